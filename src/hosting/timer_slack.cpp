// SPDX-License-Identifier: MIT
#include "hosting/timer_slack.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace joust {

#ifdef __linux__
NoTimerSlack::NoTimerSlack(bool wanted) {
  if (!wanted) return;
  before_ns_ = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

NoTimerSlack::~NoTimerSlack() {
  if (before_ns_ >= 0) ::prctl(PR_SET_TIMERSLACK, before_ns_, 0, 0, 0);
}
#else
NoTimerSlack::NoTimerSlack(bool) {}
NoTimerSlack::~NoTimerSlack() = default;
#endif

}  // namespace joust
