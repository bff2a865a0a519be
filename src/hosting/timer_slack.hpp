// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// As long as this object exists, timed waits of this thread and of threads that it starts end as soon as the
// clock allows. Otherwise Linux delays them by up to 50 us, to wake the CPU less often.
class NoTimerSlack {
 public:
  explicit NoTimerSlack(bool wanted);  // false: nothing is changed
  ~NoTimerSlack();
  NoTimerSlack(const NoTimerSlack&) = delete;
  NoTimerSlack& operator=(const NoTimerSlack&) = delete;

 private:
  [[maybe_unused]] int before_ns_ = -1;  // -1: unchanged
};

}  // namespace joust
