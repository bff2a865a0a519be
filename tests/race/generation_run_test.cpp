// SPDX-License-Identifier: MIT
#include "race/run/generation_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "race/fake_catalogue.hpp"
#include "race/figures/ranking.hpp"
#include "stats/intervals.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;

// Contestants that answer in an even pace, without processes and without time.
class EvenGeneration : public Generation {
 public:
  bool start(std::size_t contestant) override { return contestant != cannot_start; }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) override {
    if (size.messages > 0 && recorded) counts[contestant].push_back(size.messages);
    const Duration length =
        size.messages > 0 ? static_cast<std::int64_t>(size.messages) * message : size.time;
    if (contestant == fails_in_turn && recorded && lengths[contestant].size() == 3) return std::nullopt;
    if (recorded) {
      order.push_back(contestant);
      lengths[contestant].push_back(length);
    } else {
      ++warmed[contestant];
      warm_up[contestant] = length;
    }
    const double turn_s = std::chrono::duration<double>(length).count();
    const std::size_t nth = recorded ? lengths[contestant].size() - 1 : 0;
    const auto messages = static_cast<std::uint64_t>(rate * turn_s * (recorded ? pace(contestant, nth) : 1));
    const Duration waits = recorded ? Duration{} : waits_in_warmup(contestant, warmed[contestant]);
    return Turn{.window_s = 0.8 * turn_s,
                .verified = messages * 8 / 10,
                .messages = messages,
                .turn_s = turn_s + std::chrono::duration<double>(waits).count()};
  }
  Trial finish(std::size_t contestant) override {
    finished.push_back(contestant);
    turns_before_finish[contestant] = order.size();
    return {};
  }

  double rate = 1e6;   // messages a second
  Duration message{};  // how long one takes in a counted turn
  std::map<std::size_t, std::vector<std::uint64_t>> counts;
  std::function<double(std::size_t contestant, std::size_t turn)> pace = [](auto, auto) { return 1.0; };
  // How long the last replies of a warm-up take; of each contestant they are counted from 1.
  std::function<Duration(std::size_t contestant, int warmup)> waits_in_warmup = [](auto, auto) {
    return Duration{};
  };
  std::size_t cannot_start = 99, fails_in_turn = 99;
  std::vector<std::size_t> order, finished;
  std::map<std::size_t, std::size_t> turns_before_finish;
  std::map<std::size_t, std::vector<Duration>> lengths;
  std::map<std::size_t, int> warmed;
  std::map<std::size_t, Duration> warm_up;
};

class Generations : public testing::Test {
 protected:
  std::vector<Trial> run(std::size_t contestants = 3) {
    std::vector<TrialOrder> orders(contestants, TrialOrder{.load_case = one, .entry = entry});
    return run_generation(generation, orders, plan, stop);
  }

  Entry entry;

  Case one = fake_scenario({"epoll"}).cases.front();
  GenerationPlan plan{
      .seed = 7, .number = 1, .window = milliseconds(320), .warmup = milliseconds(100), .turn = {}};
  EvenGeneration generation;
  Stop stop;
};

TEST_F(Generations, AllTakeTheSameTurnsInRandomOrder) {
  const std::vector<Trial> trials = run();
  ASSERT_EQ(trials.size(), 3U);
  for (const Trial& trial : trials) {
    double window_s = 0;
    for (const Turn& turn : trial.turns) window_s += turn.window_s;
    EXPECT_GE(window_s, 0.32);
    EXPECT_EQ(trial.turns.size(), trials.front().turns.size());
    for (std::size_t i = 0; i < trial.turns.size(); ++i) EXPECT_EQ(trial.turns[i].number, i + 1);
  }
  std::map<std::vector<std::size_t>, int> orders;
  for (std::size_t i = 0; i < generation.order.size(); i += 3) {
    std::vector<std::size_t> round(generation.order.begin() + static_cast<std::ptrdiff_t>(i),
                                   generation.order.begin() + static_cast<std::ptrdiff_t>(i + 3));
    ++orders[round];
    std::ranges::sort(round);
    EXPECT_EQ(round, (std::vector<std::size_t>{0, 1, 2})) << "each once in every round of turns";
  }
  EXPECT_GT(orders.size(), 2U);
  EXPECT_EQ(generation.warmed, (std::map<std::size_t, int>{{0, 1}, {1, 1}, {2, 1}}));
}

// The first one tells the length of a turn. A command may need the whole time each time.
TEST_F(Generations, WarmUpForAMomentAfterTheFirst) {
  plan.turn = milliseconds(20), plan.number = 2, plan.warms_up_again = false;
  Entry command = entry;
  command.contestant.command = "server";
  run_generation(generation, {{.load_case = one, .entry = entry}, {.load_case = one, .entry = command}}, plan,
                 stop);
  EXPECT_EQ(generation.warm_up[0], milliseconds(30));
  EXPECT_EQ(generation.warm_up[1], one.load.warmup);
}

TEST_F(Generations, HaveAsManyTurnsAsAreAskedFor) {
  plan.turns = 9;
  for (const Trial& trial : run()) EXPECT_EQ(trial.turns.size(), 9U);
}

TEST_F(Generations, EndAtTheirDeadlineWithATurnOfEach) {
  plan.deadline = Clock::now();
  for (const Trial& trial : run()) EXPECT_EQ(trial.turns.size(), 1U);
}

TEST_F(Generations, AContestantWithAWarmUpOfItsOwnHasThat) {
  Entry slow = entry;
  slow.contestant.warmup = milliseconds(700);
  run_generation(generation, {{.load_case = one, .entry = entry}, {.load_case = one, .entry = slow}}, plan,
                 stop);
  EXPECT_EQ(generation.warm_up,
            (std::map<std::size_t, Duration>{{0, milliseconds(100)}, {1, milliseconds(700)}}));
}

TEST_F(Generations, TheSeedRepeatsTheOrder) {
  run();
  const auto first = std::exchange(generation.order, {});
  run();
  EXPECT_EQ(generation.order, first);
  generation.order.clear();
  plan.seed = 8;
  run();
  EXPECT_NE(generation.order, first);
}

TEST_F(Generations, ATurnLastsManyTimesTheLatency) {
  EXPECT_EQ(turn_length(milliseconds(1)), kShortestChosenTurn);
  EXPECT_EQ(turn_length(milliseconds(7)), milliseconds(70));
  EXPECT_EQ(turn_length(std::chrono::seconds(3)), kLongestChosenTurn);
  one.load.connections = 10'000;  // at a million a second: 10 ms
  run();
  ASSERT_TRUE(plan.turn);
  EXPECT_NEAR(std::chrono::duration<double>(*plan.turn).count(), 0.1, 0.001);
}

// A turn begins without a queue, and ends without those who would have waited in one.
TEST_F(Generations, ATurnOfAnOpenLoopIsLongBesideTheWaits) {
  one.load.rate_per_s = 5000;
  generation.waits_in_warmup = [](auto contestant, auto) { return milliseconds(contestant == 1 ? 15 : 1); };
  run();
  ASSERT_TRUE(plan.turn);
  EXPECT_NEAR(std::chrono::duration<double>(*plan.turn).count(), 0.3, 1e-6);
  EXPECT_FALSE(plan.too_long);
}

// As of a server that does not keep up: all that was due and not answered.
TEST_F(Generations, AnOpenLoopWithLongWaitsTakesNoTurns) {
  one.load.rate_per_s = 5000;
  generation.waits_in_warmup = [](auto contestant, auto) { return milliseconds(contestant == 1 ? 90 : 1); };
  run();
  ASSERT_TRUE(plan.too_long);
  EXPECT_NEAR(std::chrono::duration<double>(*plan.too_long).count(), 1.8, 1e-6);
  EXPECT_TRUE(generation.order.empty()) << "nothing was recorded";
}

TEST_F(Generations, AStallOfAWarmUpInAnOpenLoopIsForgiven) {
  one.load.rate_per_s = 5000;
  generation.waits_in_warmup = [](auto, auto warmup) { return milliseconds(warmup == 1 ? 90 : 1); };
  run();
  EXPECT_FALSE(plan.too_long);
  EXPECT_EQ(plan.turn, milliseconds(100));
}

TEST_F(Generations, ALengthOfTurnsThatIsGivenAsksForTurns) {
  one.load.rate_per_s = 5000;
  plan.turn = milliseconds(100);
  generation.waits_in_warmup = [](auto, auto) { return milliseconds(90); };
  run();
  EXPECT_FALSE(plan.too_long);
  EXPECT_FALSE(generation.order.empty());
}

TEST_F(Generations, ATurnOfAnOpenLoopHasRoomForMessages) {
  one.load.rate_per_s = 400;
  run();
  EXPECT_EQ(plan.turn, milliseconds(250));
  plan.turn.reset();
  one.load.rate_per_s = 1e6;
  run();
  EXPECT_EQ(plan.turn, kShortestOpenTurn);
}

// Of connections that send in a period of 100 ms, those that send in the ramp of one turn do so in every turn
// of 100 ms.
TEST_F(Generations, TurnsOfAnOpenLoopResonateWithNoConnection) {
  one.load.rate_per_s = 1000;
  run();
  EXPECT_EQ(plan.turn, milliseconds(100));
  const auto lengths = generation.lengths;
  EXPECT_EQ(lengths.at(1), lengths.at(0)) << "the same for all contestants";
  Duration windows{};
  for (const Duration length : lengths.at(0)) {
    EXPECT_GE(length, milliseconds(100));
    EXPECT_LT(length, milliseconds(150));
    windows += length - length / 5;
  }
  EXPECT_GE(windows, plan.window);
  EXPECT_EQ(std::set(lengths.at(0).begin(), lengths.at(0).end()).size(), lengths.at(0).size());
  generation.lengths.clear();
  run();
  EXPECT_EQ(generation.lengths, lengths) << "the seed repeats them";
  generation.lengths.clear();
  plan.number = 2;
  run();
  EXPECT_NE(generation.lengths, lengths);
}

TEST_F(Generations, AGivenLengthIsKept) {
  plan.turn = milliseconds(5);
  run();
  for (const Duration length : generation.lengths[0]) EXPECT_EQ(length, milliseconds(5));
}

TEST_F(Generations, ACountedTurnIsTheNumberThatWasAskedFor) {
  plan.counted = true;
  plan.messages = 7;
  generation.message = milliseconds(2);
  run();
  ASSERT_EQ(generation.counts.size(), 3U);
  for (const auto& [contestant, counts] : generation.counts) {
    EXPECT_EQ(counts, std::vector<std::uint64_t>(23, 7)) << "23 turns of 14 ms are 320 ms";
    EXPECT_GE(generation.warmed[static_cast<std::size_t>(contestant)], 2);
  }
}

TEST_F(Generations, ACountIsChosenSoThatATurnLastsLongEnough) {
  const auto chosen = [&](Duration message) {
    plan = {.seed = 7, .number = 1, .window = milliseconds(320), .turn = plan.turn, .counted = true};
    generation.message = message;
    run();
    return plan.messages;
  };
  EXPECT_EQ(chosen(std::chrono::microseconds(50)), 400U) << "20 ms";
  EXPECT_EQ(chosen(milliseconds(3)), 7U);
  EXPECT_EQ(chosen(milliseconds(30)), 1U);
  plan.turn = milliseconds(90);
  EXPECT_EQ(chosen(milliseconds(30)), 3U);
}

TEST_F(Generations, ShortCountedTurnsHaveAnEnd) {
  plan.counted = true;
  plan.messages = 1;
  generation.message = std::chrono::microseconds(10);
  EXPECT_EQ(run().front().turns.size(), 64U) << "each stands for 5 ms at least";
}

TEST_F(Generations, WhereACountedTurnTakesTooLongNothingIsRecorded) {
  plan.counted = true;
  generation.message = milliseconds(501);
  run();
  EXPECT_EQ(plan.too_long, milliseconds(501));
  EXPECT_TRUE(generation.order.empty());
  EXPECT_EQ(generation.warmed, (std::map<std::size_t, int>{{0, 2}}))
      << "once more; the others are not started";
  EXPECT_EQ(generation.finished, std::vector<std::size_t>{0});
  plan.too_long.reset();
  plan.number = 2;
  run();
  EXPECT_FALSE(plan.too_long) << "a race does not change its method later";
  EXPECT_FALSE(generation.order.empty());
}

TEST_F(Generations, TheOthersGoOnWithoutWhoFails) {
  generation.cannot_start = 0;
  generation.fails_in_turn = 1;
  const std::vector<Trial> trials = run();
  EXPECT_TRUE(trials[0].turns.empty());
  EXPECT_EQ(trials[1].turns.size(), 3U);
  EXPECT_GT(trials[2].turns.size(), 3U);
  EXPECT_EQ(generation.finished, (std::vector<std::size_t>{0, 1, 2})) << "all are ended";
  EXPECT_EQ(generation.turns_before_finish[0], 0U) << "at once, not when the others have had their turns";
  EXPECT_LT(generation.turns_before_finish[1], generation.order.size());
  EXPECT_FALSE(plan.turn) << "the slowest may be missing";
}

// Something else takes the machine for a quarter of all turns: whole rounds of turns, and single turns.
TEST_F(Generations, TheRampIsTwoRoundTripsAndTheSameForAll) {
  ASSERT_EQ(one.load.connections, 256U);
  run();
  EXPECT_EQ(plan.ramp, milliseconds(1)) << "of 0.26 ms each; it is no shorter";
  plan.ramp.reset();
  generation.rate = 1e5;
  run();
  EXPECT_NEAR(static_cast<double>(plan.ramp.value_or(Duration{}).count()), 5.12e6, 0.02e6);
  plan.ramp.reset();
  one.load.rate_per_s = 5000;
  run();
  EXPECT_FALSE(plan.ramp) << "few slots of an open loop are in use, so its latency is not known";
}

TEST_F(Generations, LevelsAreThoseOfQuietTurns) {
  generation.pace = [](std::size_t contestant, std::size_t turn) {
    return (contestant == 1 ? 0.9 : 1) * (turn % 6 == 1 ? 0.5 : 1);
  };
  const std::vector<Trial> trials = run();
  EXPECT_NEAR(trials[0].turns_throughput_per_s.value_or(0), 1e6, 1e3);
  EXPECT_NEAR(trials[1].turns_throughput_per_s.value_or(0), 0.9e6, 1e3);
  EXPECT_FALSE(trials[0].turns_server_cpu_us_per_message) << "no turn has it";
}

TEST_F(Generations, RatiosAreFreedOfDisturbance) {
  generation.pace = [](std::size_t contestant, std::size_t turn) {
    const double own = contestant == 1 ? 1.03 : 1.0;
    const bool all = turn % 5 == 0, alone = turn % 11 == contestant;
    return own * (all ? 0.5 : 1) * (alone ? 0.3 : 1);
  };
  const std::vector<Trial> trials = run();
  const auto ratio = [&](std::size_t contestant) {
    const auto logs = log_ratios_of_turns(trials[contestant], trials[0], &Turn::throughput_per_s);
    return std::exp(stats::centre(logs, {}).estimate);
  };
  EXPECT_NEAR(ratio(1), 1.03, 0.002);
  EXPECT_NEAR(ratio(2), 1.00, 0.002);
}

TEST_F(Generations, AnInterruptionEndsAllContestants) {
  stop.request();
  run();
  EXPECT_TRUE(generation.order.empty());
  EXPECT_EQ(generation.finished.size(), 3U);
}

}  // namespace
}  // namespace joust::race
