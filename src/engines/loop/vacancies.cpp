// SPDX-License-Identifier: MIT
#include "engines/loop/vacancies.hpp"

#include <utility>

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

}  // namespace joust
