// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace joust::hostile {

// The faults that a run has shown, in words. Any thread.
class Findings {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    if (found_.size() < kMost) found_.push_back(std::move(text));
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return found_;
  }

 private:
  static constexpr std::size_t kMost = 20;  // the first ones tell the cause

  mutable std::mutex mutex_;
  std::vector<std::string> found_;
};

}  // namespace joust::hostile
