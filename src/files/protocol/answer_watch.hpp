// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "joust/time.hpp"

namespace joust::file {

// Watches whether a request makes progress: bytes that move, answers, and reports of a server that works.
class AnswerWatch {
 public:
  explicit AnswerWatch(Duration patience) : patience_(patience) {}

  void progressed(Time now) {
    moved_ = false;
    progress_ = now;
  }
  void moved() { moved_ = true; }  // bytes have been sent; look() notes when
  void look(Time now) {
    if (moved_) progressed(now);
  }
  // Accepts reports of work without progress for kLongestWork at most: the server may be working, or serving
  // others first.
  void server_works(Time now) {
    if (now - progress_ < kLongestWork) report_ = now;
  }
  Time ends() const { return std::max(progress_, report_) + patience_; }
  Duration patience() const { return patience_; }

 private:
  static constexpr Duration kLongestWork = std::chrono::minutes(30);

  Duration patience_;
  bool moved_ = false;
  Time progress_{};
  Time report_{};  // the last report that the server is working
};

}  // namespace joust::file
