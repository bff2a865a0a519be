// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "joust/time.hpp"

namespace joust {

// The times of requests that are not answered yet, oldest first. A single one, as most loads have it on each
// connection, lies in the object itself.
class InFlight {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Time oldest() const { return oldest_; }  // not empty

  void push(Time time) {
    if (size_++ == 0)
      oldest_ = time;
    else
      behind_.push_back(time);
  }
  void pop() {
    if (--size_ == 0) return;
    oldest_ = behind_.front();
    behind_.pop_front();
  }
  void set_all(Time time) {
    oldest_ = time;
    std::ranges::fill(behind_, time);
  }
  void clear() {
    size_ = 0;
    behind_.clear();
  }

 private:
  std::size_t size_ = 0;
  Time oldest_{};
  std::deque<Time> behind_;
};

}  // namespace joust
