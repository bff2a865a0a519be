// SPDX-License-Identifier: MIT
#include "engines/loop/loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <exception>

#include "faults/seam.hpp"
#include "hostile/watchdog.hpp"
#include "net/stop.hpp"

namespace joust::faults {
namespace {

constexpr std::size_t kLoops = 4;

// Runs loops that end at once. False if one could not be started.
bool start_loops() {
  Stop stop;
  const EngineThread marked;
  try {
    run_loops(kLoops, stop, [](std::size_t, const Begin& begin) { begin(); });
    return true;
  } catch (const std::exception&) {
    EXPECT_TRUE(stop.at_once()) << "the others were told";
    return false;
  }
}

// Loops wait for one another before they begin: for those that could not be started too, whatever was short.
TEST(Loops, NoShortageAtTheStartLeavesALoopWaiting) {
  for (Call* const call : all_calls()) {
    if (call->name() != "operator new" && call->name() != "std::thread") continue;
    reset_counts();
    ASSERT_TRUE(start_loops());
    const std::uint64_t made = call->made();
    ASSERT_GE(made, kLoops - 1) << call->name();
    unsigned failed = 0;
    for (std::uint64_t nth = 1; nth <= made; ++nth) {
      hostile::Watchdog watchdog("starting loops");
      reset_counts();
      inject(std::array{Fault{.call = call, .error = call->faults().front(), .nth = nth}});
      failed += !start_loops();
      stop_injecting();
    }
    EXPECT_GT(failed, 0U) << call->name();
  }
}

}  // namespace
}  // namespace joust::faults
