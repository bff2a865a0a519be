// SPDX-License-Identifier: MIT
#include "engines/loop/dials.hpp"

#include <utility>

#include "connection/tally.hpp"

namespace joust {

void Vacancies::add() {
  ++count_;
  ask_at_ = Time{};
}

std::optional<Redial> Vacancies::take(Time now) {
  if (count_ == 0) return std::nullopt;
  const std::uint64_t publications = publications_ == nullptr ? 0 : publications_->count();
  const bool is_news = std::exchange(seen_, publications) != publications;
  if (!is_news && now < ask_at_) return std::nullopt;
  const std::optional<Redial> answer = service_.redial(now);
  if (!answer) {
    count_ = 0;
    return std::nullopt;
  }
  ask_at_ = answer->at;
  if (now < answer->at) return std::nullopt;
  --count_;
  return answer;
}

std::optional<Time> Vacancies::due() const {
  return count_ == 0 ? std::nullopt : std::optional(ask_at_);
}

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
