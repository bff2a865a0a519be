// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "joust/time.hpp"

namespace joust {

// The replies at the end of an outbox that are not due yet, in order: no reply becomes due before an earlier
// one. It keeps sizes and times, not the bytes. In steady state it allocates nothing.
class Later {
 public:
  bool empty() const { return first_ == replies_.size(); }
  std::size_t bytes() const { return bytes_; }  // bytes of all these replies
  std::optional<Time> due() const { return empty() ? std::nullopt : std::optional(replies_[first_].due); }

  void push(Time due, std::size_t bytes) {
    if (!empty()) due = std::max(due, replies_.back().due);
    replies_.push_back({due, bytes});
    bytes_ += bytes;
  }

  // Removes the replies that are due: they may be sent.
  void release(Time now) {
    for (; !empty() && replies_[first_].due <= now; ++first_) bytes_ -= replies_[first_].bytes;
    if (2 * first_ < replies_.size()) return;
    replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  struct Reply {
    Time due;
    std::size_t bytes;
  };

  std::vector<Reply> replies_;
  std::size_t first_ = 0;  // the oldest reply that is not due
  std::size_t bytes_ = 0;
};

}  // namespace joust
