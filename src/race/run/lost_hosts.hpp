// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "race/trial/runner.hpp"

namespace joust::race {

// The rounds of a race in which a host was lost, and what follows. One thread.
class LostHosts {
 public:
  // `most`: how often in a race a round is run again for it.
  LostHosts(LostHost choice, std::uint64_t most) : choice_(choice), most_(most) {}

  // Refuses a round. Returns whether it is to be run again; otherwise the race is to end.
  bool run_again(std::uint64_t round, const std::string& why, RaceObserver& observer);

  bool end_race() const { return ends_; }
  // Returns why rounds were refused, in their order.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  const LostHost choice_;
  const std::uint64_t most_;
  std::vector<std::string> reasons_{};
  bool ends_ = false;
};

// Looks for a trial in which a host was lost. If there is one, refuses all of them: none counts, and those
// that were not run get its failure. Returns the failure; empty if no host was lost.
std::string refuse_if_lost(std::vector<Trial>& trials);

}  // namespace joust::race
