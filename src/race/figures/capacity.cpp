// SPDX-License-Identifier: MIT
#include "race/figures/capacity.hpp"

#include "race/figures/summary.hpp"

namespace joust::race {

std::map<std::string, Capacity> capacities_of(const RaceResult& pilot) {
  std::map<std::string, Capacity> capacities;
  for (CaseResult one : pilot.cases) {
    summarize(one);
    for (const Entry& entry : one.entries) {
      const auto& rate = entry.summary.throughput_per_s;
      if (!entry.is_contestant() || !rate) continue;
      const auto [slowest, first] =
          capacities.try_emplace(one.plan.name, Capacity{rate->median, entry.contestant.name});
      if (!first && rate->median < slowest->second.per_s)
        slowest->second = {rate->median, entry.contestant.name};
    }
  }
  return capacities;
}

}  // namespace joust::race
