// SPDX-License-Identifier: MIT
// Check 5, of the order of turns. noise_checks_test.cpp has that of whole trials.
#include <random>

#include "race/checks/checks.hpp"
#include "race/turn_race_fixture.hpp"

namespace joust::race {
namespace {

class OrderOfTurns : public TurnRace {
 protected:
  static constexpr int kRaces = 6;

  OrderOfTurns() {
    scenario = fake_scenario({"threads", "epoll", "pool"}, 12);
    scenario.cases.front().protocol = "turns";
    scenario.cases.front().load.duration = std::chrono::milliseconds(400);  // 25 turns of 20 ms
    runner.world.rate = {{"threads", 100e3}, {"epoll", 105e3}, {"pool", 103e3}};
  }

  // Returns in how many races check 5 says this, and in how many it warns.
  struct Said {
    int words = 0, warnings = 0;
  };
  Said races_that_say(const std::string& words) {
    Said said;
    for (std::uint64_t seed = 1; seed <= kRaces; ++seed) {
      std::seed_seq sequence{seed};
      runner.world.random = stats::Random(sequence);
      const RaceResult result = run();
      const CheckResult found = find_check(5)->look(result, result.cases.front());
      said.words += found.detail.find(words) != std::string::npos;
      said.warnings += found.verdict == Verdict::warn;
    }
    return said;
  }
};

TEST_F(OrderOfTurns, WithoutEffectIsNotWarnedOf) {
  EXPECT_LE(races_that_say("mattered").warnings, 1);
}

TEST_F(OrderOfTurns, ATurnThatSlowsTheNextOneIsNamed) {
  runner.world.slows_next = {{"pool", 0.06}};
  EXPECT_EQ(races_that_say("the contestant before on throughput mattered").words, kRaces);
  EXPECT_EQ(races_that_say("the contestant before on cost mattered").words, kRaces);
}

TEST_F(OrderOfTurns, AFirstTurnThatIsSlowerIsNamed) {
  runner.world.first_is_slower = 0.06;
  EXPECT_EQ(races_that_say("the place among turns on throughput mattered").words, kRaces);
}

}  // namespace
}  // namespace joust::race
