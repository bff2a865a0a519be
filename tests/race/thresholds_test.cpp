// SPDX-License-Identifier: MIT
#include "race/judgement/thresholds.hpp"

#include <cmath>

#include "race/checks_fixture.hpp"

namespace joust::race {
namespace {

stats::Ratio between(double low, double high, double chance = 0.001) {
  return {.estimate = std::sqrt(low * high), .interval = {low, high}, .chance = chance};
}

TEST(StandingBesideAThreshold, IsThatOfTheWholeInterval) {
  const auto below = [](double low, double high) {
    return standing_of(between(low, high), 0.97, Fails::below, {});
  };
  EXPECT_EQ(below(0.94, 0.96), Standing::beyond);
  EXPECT_EQ(below(0.94, 0.97), Standing::undecided);
  EXPECT_EQ(below(0.96, 0.98), Standing::undecided);
  EXPECT_EQ(below(0.97, 0.99), Standing::within);
  EXPECT_EQ(below(1.2, 1.3), Standing::within);
  EXPECT_EQ(standing_of({.estimate = 0.9}, 0.97, Fails::below, {}), Standing::undecided) << "it is not known";
  const auto above = [](double low, double high) {
    return standing_of(between(low, high), 1.03, Fails::above, {});
  };
  EXPECT_EQ(above(1.04, 1.05), Standing::beyond);
  EXPECT_EQ(above(1.02, 1.04), Standing::undecided);
  EXPECT_EQ(above(0.9, 1.02), Standing::within);
}

// Equals are told apart in one race of a hundred at most, also by thresholds.
TEST(StandingBesideAThreshold, IsBeyondOnlyOfContestantsThatAreToldApart) {
  EXPECT_EQ(standing_of(between(0.5, 0.95, 0.03), 0.97, Fails::below, {}), Standing::undecided);
  EXPECT_EQ(standing_of(between(0.98, 1.01, 0.9), 1.05, Fails::below, {}), Standing::beyond)
      << "equals fail here";
  EXPECT_EQ(standing_of(between(1.04, 1.9, 0.03), 1.03, Fails::above, {}), Standing::undecided);
}

TEST(StandingBesideAThreshold, OfAnUnderstatedDifferenceIsOnlyWhatItProves) {
  const Bounds understated{.understated = true};
  const auto below = [&](double low, double high, double limit) {
    return standing_of(between(low, high), limit, Fails::below, understated);
  };
  EXPECT_EQ(below(0.94, 0.96, 0.97), Standing::beyond) << "the true ratio is still lower";
  EXPECT_EQ(below(0.98, 0.99, 0.97), Standing::undecided) << "the true ratio may be lower";
  EXPECT_EQ(below(1.01, 1.02, 0.97), Standing::within);
  EXPECT_EQ(below(1.01, 1.02, 1.05), Standing::undecided) << "the true ratio may be higher";
  EXPECT_EQ(standing_of(between(1.04, 1.05), 1.03, Fails::above, understated), Standing::beyond);
  EXPECT_EQ(standing_of(between(1.01, 1.02), 1.03, Fails::above, understated), Standing::undecided);
  EXPECT_EQ(standing_of(between(0.9, 0.99), 1.03, Fails::above, understated), Standing::within);
}

TEST(StandingBesideAThreshold, OfABoundIsOnlyWhatItProves) {
  const Bounds at_least{.understated = true, .contestant = true};
  EXPECT_EQ(standing_of(between(0.94, 0.96), 0.97, Fails::below, at_least), Standing::undecided);
  EXPECT_EQ(standing_of(between(1.01, 1.02), 0.97, Fails::below, at_least), Standing::within);
  const Bounds at_most{.understated = true, .reference = true};
  EXPECT_EQ(standing_of(between(0.94, 0.96), 0.97, Fails::below, at_most), Standing::beyond);
  EXPECT_EQ(standing_of(between(1.01, 1.02), 0.97, Fails::below, at_most), Standing::undecided);
}

class RacesWithThresholds : public Checks {
 protected:
  RacesWithThresholds() {
    scenario = fake_scenario({"threads", "epoll"}, 10);
    runner.throughput = {{"threads", 50e3}, {"epoll", 45e3}};
    scenario.thresholds.below = 0.97;
  }

  std::vector<std::string> sentences() {
    judged = race();
    judge(judged);
    return threshold_sentences(judged);
  }
  std::string sentence() {
    const std::vector<std::string> all = sentences();
    return all.size() == 1 ? all.front() : "not one sentence";
  }
};

TEST_F(RacesWithThresholds, FailWhereAContestantIsBeyondOne) {
  const std::string said = sentence();
  EXPECT_TRUE(said.starts_with("epoll is at 0.90")) << said;
  EXPECT_TRUE(said.ends_with(") of threads, below 0.97: exit code 99")) << said;
  EXPECT_EQ(exit_code(judged), 99);
}

TEST_F(RacesWithThresholds, PassWhereNoneIs) {
  scenario.thresholds.below = 0.8;
  const std::string said = sentence();
  EXPECT_TRUE(said.ends_with(") of threads, not below 0.8")) << said;
  EXPECT_EQ(exit_code(judged), 0);
}

TEST_F(RacesWithThresholds, CompareTheCostToo) {
  scenario.thresholds = {.cost_above = 1.03};
  std::string said = sentence();
  EXPECT_TRUE(said.starts_with("a message of epoll costs 1.11")) << said;
  EXPECT_TRUE(said.ends_with(") of the server CPU time of threads, above 1.03: exit code 99")) << said;
  EXPECT_EQ(exit_code(judged), 99);
  scenario.thresholds = {.below = 0.97, .cost_above = 1.03};
  EXPECT_EQ(sentences().size(), 2U);
}

TEST_F(RacesWithThresholds, SayWhatWouldDecide) {
  runner.throughput["epoll"] = 47e3;
  runner.wobble = {0.0, 0.06, -0.05, 0.04, -0.03, 0.05, -0.04, 0.02, 0.03, -0.06};
  const std::string said = sentence();
  EXPECT_TRUE(said.contains(" of threads: not decided whether that is below 0.97, a race of about ")) << said;
  EXPECT_TRUE(said.ends_with(" would decide: by itself no failure (--undecided ok)")) << said;
  EXPECT_TRUE(judged.cases.front().thresholds.front().more_rounds_decide);
  EXPECT_EQ(exit_code(judged), 0);
  scenario.thresholds.undecided = Undecided::fail;
  EXPECT_TRUE(sentence().ends_with(": exit code 99 (--undecided fail)"));
  EXPECT_EQ(exit_code(judged), 99);
}

TEST_F(RacesWithThresholds, AreNotDecidedByRoundsThatKnowNoNoise) {
  scenario.rounds = 1;
  const std::string said = sentence();
  EXPECT_EQ(said,
            "not decided whether epoll is below 0.97 of threads, because the rounds are too few to compare "
            "epoll with threads: by itself no failure (--undecided ok)");
  EXPECT_EQ(exit_code(judged), 3) << "the race tells nothing";
}

TEST_F(RacesWithThresholds, AreNotDecidedForWhoIsNotRanked) {
  plant("epoll", [](Trial& trial) {
    trial.load.reset();
    trial.failure = "the server ended";
  });
  EXPECT_TRUE(
      sentence().starts_with("not decided whether epoll is below 0.97 of threads, because epoll is not "
                             "ranked ("))
      << sentence();
  EXPECT_EQ(exit_code(judged), 3) << "which says more than an undecided threshold";
  scenario.thresholds.undecided = Undecided::fail;
  EXPECT_TRUE(sentence().ends_with(": exit code 99 (--undecided fail)"));
  EXPECT_EQ(exit_code(judged), 99) << "as the sentence says";
  EXPECT_EQ(exit_reason(judged), sentence());
  scenario.thresholds.undecided = Undecided::ok;
  scenario.allow_unranked = scenario.allow_nothing = true;
  sentences();
  EXPECT_EQ(exit_code(judged), 0);
}

// Otherwise the new version would be compared with itself, or with a third one.
TEST_F(RacesWithThresholds, AreNotComparedWithAnotherReference) {
  scenario.contestants.push_back(racer("io-uring"));
  plant("threads", [](Trial& trial) {
    trial.load.reset();
    trial.failure = "the server ended";
  });
  const std::vector<std::string> said = sentences();
  ASSERT_EQ(said.size(), 2U);
  for (const std::string& each : said)
    EXPECT_TRUE(each.contains(" of threads, because threads was not measured: ")) << each;
}

TEST_F(RacesWithThresholds, NameTheCaseOfSeveral) {
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "second";
  const std::vector<std::string> said = sentences();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said.back().starts_with("second: epoll is at 0.90")) << said.back();
}

TEST_F(RacesWithThresholds, NameTheCasesThatAreNotTested) {
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "open";
  scenario.cases.back().load.rate_per_s = 5000;
  const std::vector<std::string> said = sentences();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said.back().starts_with("open: not tested by --fail-below")) << said.back();
}

TEST_F(RacesWithThresholds, PromiseNoExitCodeWhereTheRaceWasInterrupted) {
  judged = race();
  judged.complete = false;
  judged.incomplete = "interrupted";
  judge(judged);
  EXPECT_FALSE(threshold_sentences(judged).front().contains("exit code"));
  EXPECT_EQ(exit_code(judged), 1);
  EXPECT_EQ(exit_reason(judged), "interrupted");
}

TEST_F(RacesWithThresholds, FailAlsoBesideAContestantThatIsNotRanked) {
  scenario.contestants.push_back(racer("broken"));
  EXPECT_EQ(sentences().size(), 2U);
  EXPECT_EQ(exit_code(judged), 99);
}

TEST_F(RacesWithThresholds, DecideNothingWhereTheClientWasTheLimitOfTheSlower) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name != "epoll" || !trial.load) return;
    trial.load->cpu.user_s = 0.95 * trial.load->duration_s;
    trial.load->cpu.system_s = 0.04 * trial.load->duration_s;
  };
  const std::string said = sentence();
  ASSERT_TRUE(entry(judged, "epoll").at_least);
  EXPECT_TRUE(said.contains("not decided whether that is below 0.97, because the load was the limit"))
      << said;
  EXPECT_EQ(exit_code(judged), 0);
}

}  // namespace
}  // namespace joust::race
