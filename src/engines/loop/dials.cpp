// SPDX-License-Identifier: MIT
#include "engines/loop/dials.hpp"

#include "connection/tally.hpp"

namespace joust {

std::optional<Dial> Dials::start(Time now) {
  if (in_progress_ >= hosting_.limits.dials_at_once) return std::nullopt;
  Dial dial;
  if (!retries_.empty()) {
    dial = retries_.back();
    retries_.pop_back();
  } else if (unstarted_ > 0) {
    --unstarted_;
  } else if (const auto again = vacancies_.take(now)) {
    dial.until = again->until;
  } else {
    return std::nullopt;
  }
  ++in_progress_;
  dial.in_progress = true;
  return dial;
}

void Dials::succeeded(Dial& dial) {
  dial.in_progress = false;
  dial.connected = true;
  --in_progress_;
}

void Dials::failed(Dial& dial, int error, Time now) {
  failed(dial, hosting_.target->connect_failure(dial.endpoint, error), now);
}

void Dials::failed(Dial& dial, const Failure& failure, Time now) {
  dial.in_progress = false;
  --in_progress_;
  if (dial.endpoint + 1 < hosting_.target->endpoints()) {
    retries_.push_back({.endpoint = dial.endpoint + 1, .until = dial.until});
    return;
  }
  hosting_.not_opened(failure, now);
  ended();
}

}  // namespace joust
