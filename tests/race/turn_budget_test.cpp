// SPDX-License-Identifier: MIT
//
// How many turns the generations of a race have.
#include "race/run/stopping_rule.hpp"

#include "race/turn_race_fixture.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;

// Generations of 0.4 s of set-up, whose rounds of turns take 0.1 s.
class TurnBudget : public TurnRace {
 protected:
  CaseResult raced(std::uint64_t generations, double generation_noise, double turn_noise) {
    scenario = fake_scenario({"threads", "epoll", "pool"}, generations);
    scenario.cases.front().protocol = "turns";
    scenario.cases.front().load.duration = milliseconds(400);
    runner.world.generation_noise = generation_noise, runner.world.turn_noise = turn_noise;
    return run().cases.front();
  }
  static std::vector<GenerationTime> times(std::size_t generations, std::uint64_t turns = 100) {
    return std::vector<GenerationTime>(
        generations,
        GenerationTime{.set_up = milliseconds(400), .round_of_turns = milliseconds(100), .turns = turns});
  }
};

TEST_F(TurnBudget, NoiseIsThatOfTurnsAndOfStarts) {
  const Noise noise = noise_of(raced(200, 0.02, 0.05)).value();
  EXPECT_NEAR(std::sqrt(noise.of_turn), 0.05 * std::sqrt(2), 0.005);
  EXPECT_NEAR(std::sqrt(noise.of_generation), 0.02 * std::sqrt(2), 0.005);
  EXPECT_LT(std::sqrt(noise_of(raced(200, 0, 0.05)).value().of_generation), 0.01);
}

// sqrt((0.06 / 0.01)^2 * 4) is 12, and sqrt(4 * 4) is 4, which is less than a generation has.
TEST_F(TurnBudget, TurnsFollowTheNoise) {
  const auto turns = best_turns(raced(200, 0.01, 0.06), times(6), seconds(20)).value();
  EXPECT_GE(turns, 10U);
  EXPECT_LE(turns, 15U);
  EXPECT_EQ(best_turns(raced(200, 0.05, 0.05), times(6), seconds(20)), 5U);
  EXPECT_EQ(best_turns(raced(200, 0.01, 0.06), times(6, 8), seconds(20)), 8U) << "no more than planned";
}

TEST_F(TurnBudget, FewGenerationsDoNotKnowTheNoise) {
  EXPECT_FALSE(best_turns(raced(5, 0.05, 0.05), times(5), seconds(20)));
}

// 340 s for 34 generations: 10 s each.
TEST_F(TurnBudget, NoMoreGenerationsThanFortyFit) {
  EXPECT_EQ(best_turns(raced(6, 0.05, 0.05), times(6), seconds(340)), 96U);
}

TEST_F(TurnBudget, TheTimeOfAGenerationIsThatOfItsTurnsAndTheRest) {
  Trial trial;
  trial.turns = {{.number = 1, .turn_s = 0.02}, {.number = 2, .turn_s = 0.04}};
  const GenerationTime time = time_of({trial, trial}, milliseconds(500));
  EXPECT_EQ(time.set_up, milliseconds(380));
  EXPECT_EQ(time.round_of_turns, milliseconds(60));
}

}  // namespace
}  // namespace joust::race
