// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "joust/time.hpp"

namespace joust {

// The times of outstanding requests, oldest first. The oldest is stored in the object itself,
// because most loads have one request on each connection.
class InFlight {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Time oldest() const { return oldest_; }  // not empty

  // Returns the number of requests whose time is not before `earliest`.
  std::size_t since(Time earliest) const {
    if (size_ == 0) return 0;
    const auto waiting = behind_.begin() + static_cast<std::ptrdiff_t>(popped_);
    const auto later = std::count_if(waiting, behind_.end(), [=](Time time) { return time >= earliest; });
    return static_cast<std::size_t>(later) + (oldest_ >= earliest ? 1 : 0);
  }

  void push(Time time) {
    if (size_++ == 0)
      oldest_ = time;
    else
      behind_.push_back(time);
  }
  void pop() {
    if (--size_ == 0) return;
    oldest_ = behind_[popped_++];
    if (2 * popped_ < behind_.size()) return;
    behind_.erase(behind_.begin(), behind_.begin() + static_cast<std::ptrdiff_t>(popped_));
    popped_ = 0;
  }
  // Removes the request at `place`, where 0 is the oldest.
  Time take(std::size_t place) {
    const Time oldest = oldest_;
    if (place == 0) {
      pop();
      return oldest;
    }
    --size_;
    const auto taken = behind_.begin() + static_cast<std::ptrdiff_t>(popped_ + place - 1);
    const Time time = *taken;
    behind_.erase(taken);
    return time;
  }
  void set_all(Time time) {
    oldest_ = time;
    std::ranges::fill(behind_, time);
  }
  void clear() {
    size_ = popped_ = 0;
    behind_.clear();
  }

 private:
  std::size_t size_ = 0;
  Time oldest_{};
  std::vector<Time> behind_;  // the other requests
  std::size_t popped_ = 0;    // number of removed requests at the front of behind_
};

}  // namespace joust
