// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "race/model/result.hpp"

// The plan of a race: its entries and the order of their trials. Pure: the same scenario and seed give the
// same plan on every machine.
namespace joust::race {

// One entry of one case, as indices into Plan::cases.
struct Slot {
  std::size_t case_index = 0;
  std::size_t entry_index = 0;
  bool operator==(const Slot&) const = default;
};

struct Plan {
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  bool by_rule = false;      // the race ends before `rounds`, when it is precise enough or its time is over
  bool by_time = false;      // the race ends before `rounds` when its time is over; always with `by_rule`
  bool counts_calls = true;  // counts them in one more trial of each contestant
  CpuPlan cpus{};            // where both sides run, for warnings while the race goes on
  std::vector<CaseResult> cases;  // entries without trials yet
};

// Adds the contestants of every case, the reference's second entry, and one ceiling for each set-up of a
// client. Entries of unavailable engines are kept, with the reason.
Plan make_plan(const Scenario& scenario, const Catalogue& catalogue, std::uint64_t seed);

// Compares with the next contestant where the program of the reference is not there, and makes the second
// entry that one's. An entry keeps its place in `entries`.
void replace_reference(CaseResult& result);

// Plans whole trials for a case in place of turns, because a message takes so long. In a closed loop whose
// duration is too short for two messages, a trial has one message.
void give_up_turns(Plan& plan, const Scenario& scenario, std::size_t case_index, Duration message);

// A plan for capacity_race(): neither ceilings nor a second entry, and no pass that counts system calls.
Plan make_pilot(const Scenario& scenario, const Catalogue& catalogue, std::uint64_t seed);

// Gives the loads the arrivals of this round: the same for all contestants, and different from those of other
// rounds. A new plan is at its first round.
void begin_round(Plan& plan, std::uint64_t round);

// Returns all entries that run in a round, in random order. A repeated round has a new order. Ceilings run in
// the first round, and in two more where they are not far away from the contestants' rates.
std::vector<Slot> order_of_round(const Plan& plan, std::uint64_t round, std::uint64_t attempt = 1);

// Returns the cases in the order in which their first entries run in this round, so that no case is always
// the last.
std::vector<std::size_t> cases_in_order(const Plan& plan, std::uint64_t round);

std::size_t trials_in(const Plan& plan);

}  // namespace joust::race
