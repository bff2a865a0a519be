// SPDX-License-Identifier: MIT
//
// The list of the checks. A new one is a file with its function, and its name and a row here.
#include "race/checks/checks.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace joust::race {

// The file of a check's number defines its function, with the thresholds.
using Look = CheckResult(const RaceResult& race, const CaseResult& one);
Look check_generator, check_schedule, check_answers, check_same_twice, check_order, check_steady,
    check_interference, check_enough, check_decisions, check_parity, check_environment, check_books,
    check_loss, check_stalls;

namespace {

bool is_open_loop(const CaseResult& one) {
  return one.plan.load.open_loop();
}

constexpr std::array kChecks = std::to_array<Check>({
    {1, Reason::load, Check::When::before, check_generator, nullptr,
     "Give the client more CPUs or threads (--client-cpus, --client-threads), or the server more work, so "
     "that the server is the limit."},
    {2, Reason::load, Check::When::before, check_schedule, is_open_loop,
     "Ask for a rate that the load can keep (-R), give it more CPUs, or race longer (--time)."},
    {3, Reason::replies, Check::When::before, check_answers, nullptr,
     "Look at the errors and the last words of the contestant, which gave wrong replies, or none; where "
     "nothing says what a right reply is, say it (--expect)."},
    {4, Reason::machine, Check::When::after, check_same_twice, nullptr,
     "Race longer (--time), on a quieter machine."},
    {5, Reason::rounds, Check::When::after, check_order, nullptr,
     "Race again with more rounds (--time), and look for what runs beside the race."},
    {6, Reason::rounds, Check::When::after, check_steady, nullptr,
     "Give a longer warm-up (-w), or race longer (--time)."},
    {7, Reason::machine, Check::When::after, check_interference, nullptr,
     "Give the race CPUs, and a quota, that nothing else uses (--server-cpus, --client-cpus)."},
    {8, Reason::rounds, Check::When::after, check_enough, nullptr,
     "Race longer (--time), or ask for more --rounds."},
    {9, Reason::rounds, Check::When::after, check_decisions, nullptr,
     "Race longer (--time): four times the time halves the smallest difference that can be told."},
    {10, Reason::set_up, Check::When::before, check_parity, nullptr,
     "Build all contestants with optimization, and give all of them the same socket options and CPUs."},
    {11, Reason::set_up, Check::When::after, check_environment, nullptr,
     "Compare only results of this machine as it is, or change what the text names."},
    {12, Reason::machine, Check::When::before, check_books, nullptr,
     "End the programs that use the CPUs of the race, and look at the counts that differ."},
    {13, Reason::replies, Check::When::before, check_loss, may_lose,
     "Ask for a lower rate or fewer connections: messages were lost."},
    {14, Reason::rounds, Check::When::after, check_stalls, has_quiet_turns,
     "Race longer (--time), or look at the turns that the text names: a contestant may stall in them."},
});

}  // namespace

std::span<const Check> checks() {
  return kChecks;
}

const Check* find_check(std::uint64_t id) {
  const auto found =
      std::ranges::find_if(kChecks, [&](const Check& each) { return std::cmp_equal(each.id, id); });
  return found == kChecks.end() ? nullptr : &*found;
}

}  // namespace joust::race
