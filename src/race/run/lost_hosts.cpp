// SPDX-License-Identifier: MIT
#include "race/run/lost_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace joust::race {

bool LostHosts::run_again(std::uint64_t round, const std::string& why, RaceObserver& observer) {
  const std::size_t before = reasons_.size();
  reasons_.push_back(why);
  ends_ = choice_ == LostHost::end || before >= most_;
  if (ends_)
    observer.note(fmt::format("{}: round {} is refused, and the race ends", why, round));
  else
    observer.note(
        fmt::format("{}: round {} is refused and run again ({} of {})", why, round, before + 1, most_));
  return !ends_;
}

std::string refuse_if_lost(std::vector<Trial>& trials) {
  const auto lost = std::ranges::find_if(trials, &Trial::host_lost);
  if (lost == trials.end()) return {};
  const std::string why = lost->failure;
  for (Trial& trial : trials) {
    trial.counted = false;
    trial.host_lost = true;
    if (trial.failure.empty() && !trial.load) trial.failure = why;
  }
  return why;
}

}  // namespace joust::race
