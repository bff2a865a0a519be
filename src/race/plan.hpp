// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "race/result.hpp"

// Who races when. Pure: the same scenario and seed give the same plan on every machine.
namespace joust::race {

// One entry of one case, by its place in Plan::cases.
struct Slot {
  std::size_t case_index = 0;
  std::size_t entry_index = 0;
  bool operator==(const Slot&) const = default;
};

struct Plan {
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  std::vector<CaseResult> cases;  // entries without trials yet
};

// How often each ceiling is measured; the median holds, as one trial may have been disturbed.
inline constexpr std::uint64_t kCeilingTrials = 3;

// Contestants of every case, the reference once more, and one ceiling for each way a client can be set up.
// Unavailable engines keep their entry, with the reason.
Plan make_plan(const Scenario& scenario, const Catalogue& catalogue, std::uint64_t seed);

// All entries that run in a round, in random order. A round that is run again has an order of its own.
// Ceilings run kCeilingTrials times in all, in the first rounds.
std::vector<Slot> order_of_round(const Plan& plan, std::uint64_t round, std::uint64_t attempt = 1);

std::size_t trials_in(const Plan& plan);

}  // namespace joust::race
