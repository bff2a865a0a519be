// SPDX-License-Identifier: MIT
//
// A host that is lost in a round: the round is refused, and run again or the last one.
#include "race/turn_race_fixture.hpp"

namespace joust::race {
namespace {

constexpr const char* kWhy = "host b: no answer within 10s";

struct LostHost : TurnRace {
  // Loses a host in these generations, or in these trials of epoll.
  void lose_in(std::vector<int> numbers) {
    runner.world.alter = [this, numbers](const TrialOrder&, Trial& trial) {
      if (std::ranges::find(numbers, runner.world.generations) != numbers.end()) lose(trial);
    };
    runner.alter = [numbers](const TrialOrder& order, std::size_t nth, Trial& trial) {
      const bool is_one = std::ranges::find(numbers, static_cast<int>(nth) + 1) != numbers.end();
      if (is_one && order.entry.contestant.name == "epoll") lose(trial);
    };
  }
  static void lose(Trial& trial) {
    trial.load.reset();
    trial.failure = kWhy;
    trial.host_lost = true;
  }
  static std::size_t uncounted(const Entry& entry) {
    return static_cast<std::size_t>(std::ranges::count(entry.trials, false, &Trial::counted));
  }
  void expect_all_rounds(const RaceResult& result) {
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.rounds, 8U);
    EXPECT_EQ(result.lost_hosts, std::vector<std::string>{kWhy});
    for (const char* name : {"threads", "epoll"}) {
      EXPECT_EQ(usable_trials(entry(result, name)).size(), 8U) << name;
      EXPECT_EQ(entry(result, name).failures, 0U) << "it is no fault of a contestant";
      EXPECT_TRUE(entry(result, name).ranked) << entry(result, name).reason;
    }
    EXPECT_EQ(uncounted(entry(result, "epoll")), 1U);
  }
};

TEST_F(LostHost, ItsGenerationIsRunAgain) {
  lose_in({3});
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 9);
  expect_all_rounds(result);
  const Entry& epoll = entry(result, "epoll");
  EXPECT_EQ(epoll.trials[2].failure, kWhy);
  EXPECT_EQ(epoll.trials[3].round, 3U);
  EXPECT_EQ(epoll.trials[3].attempt, 2U);
}

TEST_F(LostHost, ItsRoundOfTrialsIsRunAgain) {
  scenario.turns = false;
  runner.throughput = runner.world.rate;
  lose_in({3});
  expect_all_rounds(run());
}

TEST_F(LostHost, TheRaceEndsWithWhatItHas) {
  scenario.lost_host = joust::race::LostHost::end;
  lose_in({3});
  const RaceResult result = run();
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.rounds, 2U);
  EXPECT_NE(result.incomplete.find(kWhy), std::string::npos) << result.incomplete;
  EXPECT_NE(result.cases.front().verdict.find(kWhy), std::string::npos) << result.cases.front().verdict;
  EXPECT_EQ(usable_trials(entry(result, "epoll")).size(), 2U);
  EXPECT_EQ(exit_code(result), 1);
}

TEST_F(LostHost, OfTrialsEndsTheRaceToo) {
  scenario.turns = false;
  scenario.lost_host = joust::race::LostHost::end;
  lose_in({3});
  const RaceResult result = run();
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.rounds, 2U);
  EXPECT_EQ(usable_trials(entry(result, "threads")).size(), 2U) << "nor the trials beside it";
}

TEST_F(LostHost, ThatIsLostForGoodEndsTheRace) {
  lose_in({2, 3, 4, 5, 6, 7, 8, 9, 10});
  const RaceResult result = run();
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.rounds, 1U);
  EXPECT_EQ(result.lost_hosts.size(), kMostLostRounds + 1);
  EXPECT_EQ(runner.world.generations, 1 + 1 + static_cast<int>(kMostLostRounds));
}

}  // namespace
}  // namespace joust::race
