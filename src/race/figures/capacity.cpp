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
      Capacity& capacity = capacities[one.plan.name];
      if (capacity.measured.empty() || rate->median < capacity.per_s) {
        capacity.per_s = rate->median;
        capacity.contestant = entry.contestant.name;
      }
      capacity.measured[entry.contestant.name] = rate->median;
    }
  }
  return capacities;
}

}  // namespace joust::race
