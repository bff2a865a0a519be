// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/figures/summary.hpp"
#include "race/judgement/judge.hpp"
#include "race/judgement/verdict.hpp"
#include "race/run/race.hpp"

namespace joust::race {
namespace {

class VerdictWords : public testing::Test {
 protected:
  RaceResult judged() {
    RaceResult result = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
    judge(result);
    return result;
  }
  std::string verdict() {
    const RaceResult result = judged();
    causes.clear();
    for (const Cause& cause : result.cases.front().causes)
      causes += fmt::format("{}. {}\n", cause.sentence, cause.remedy);
    return result.cases.front().verdict;
  }

  std::string causes;  // of what limits the latest verdict: a sentence and its remedy on each line

  Scenario scenario = fake_scenario({"epoll", "threads", "io-uring"}, 10);
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(VerdictWords, SayRatiosAndTies) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("io-uring is faster than epoll: 1.50x the throughput (1.")) << text;
  EXPECT_TRUE(
      text.contains(").\nthreads and epoll are equal here: any difference of throughput is below 3.0 %.\n"
                    "The server of io-uring needs 33 % less CPU for a message than that of epoll (33"))
      << text;
  EXPECT_TRUE(text.ends_with(" %).\nthreads and epoll need the same CPU for a message, within 3.0 %."))
      << text;
}

TEST_F(VerdictWords, QuoteNamesWithCommasAmongOthers) {
  scenario.contestants[1].name = "threads, two";
  runner.throughput = {{"epoll", 70e3}, {"threads, two", 70e3}, {"io-uring", 105e3}};
  EXPECT_TRUE(verdict().contains("\n'threads, two' and epoll are equal here")) << verdict();
}

TEST_F(VerdictWords, SayADifferenceThatIsToldAndDoesNotCount) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 71e3}, {"io-uring", 105e3}};
  const std::string text = verdict();
  EXPECT_TRUE(text.contains("\nthreads equals epoll within 3.0 %: it is faster, 1.01")) << text;
  scenario.precision = 0.01;
  EXPECT_TRUE(verdict().contains("\nthreads equals epoll within 2.0 %: it is faster, 1.01")) << verdict();
  EXPECT_FALSE(verdict().contains("No difference found")) << verdict();
  scenario.least_difference = 0.01;
  EXPECT_TRUE(verdict().contains("threads is faster than epoll: 1.01x the throughput (1.01 to 1.02)"))
      << verdict();
}

TEST_F(VerdictWords, SayWhatIsNotDecidedAndWhatWouldDecide) {
  scenario.contestants.resize(2);
  runner.throughput = {{"epoll", 70e3}, {"threads", 71e3}};
  runner.wobble = {0.0, 0.06, -0.05, 0.04, -0.03, 0.05, -0.04, 0.02, 0.03, -0.06};
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("No difference found between epoll and threads (0.9")) << text;
  EXPECT_TRUE(text.contains("x the throughput).\nA race of about ")) << text;
  EXPECT_TRUE(text.contains("0) would find any difference of throughput above 3.0 %.\n")) << text;
  EXPECT_FALSE(text.contains("equal")) << text;
}

// Where a difference is only just told, the estimate is too large in most races: the interval comes first.
TEST_F(VerdictWords, AnIntervalThatHardlyLeavesOneComesFirst) {
  scenario.contestants.resize(2);
  runner.throughput = {{"epoll", 70e3}, {"threads", 73e3}};
  runner.wobble = {0.0, 0.036, -0.03, 0.024, -0.018, 0.03, -0.024, 0.012, 0.018, -0.036};
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("threads is faster than epoll: 1.0")) << text;
  EXPECT_TRUE(text.contains("x the throughput (likely 1.04x)")) << text;
}

// A pair is spoken of by its own figures, whoever else is in the race.
TEST_F(VerdictWords, ANoisyLeaderHidesNoDifference) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 66e3}, {"io-uring", 72e3}};
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "io-uring") trial.load->throughput_per_s *= nth % 2 == 0 ? 1.15 : 0.9;
  };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("threads is slower than epoll: 0.94x the throughput (0.9")) << text;
  EXPECT_TRUE(text.contains("\nNo difference found between epoll and io-uring (")) << text;
}

TEST_F(VerdictWords, SayWhoIsMissing) {
  scenario.contestants[1].server.engine = "broken";
  runner.throughput = {{"epoll", 70e3}, {"io-uring", 105e3}};
  EXPECT_NE(verdict().find("threads is not ranked, without a result"), std::string::npos);
}

TEST_F(VerdictWords, SayWhoIsTheReferenceInPlaceOfTheOneThatIsMissing) {
  scenario.contestants[1].server.engine = "broken";
  runner.throughput = {{"epoll", 70e3}, {"io-uring", 105e3}};
  EXPECT_EQ(verdict().find("the ratios are to"), std::string::npos) << verdict();
  scenario.reference = "threads";
  EXPECT_NE(verdict().find("threads is not ranked, without a result, so the ratios are to epoll."),
            std::string::npos)
      << verdict();
}

TEST_F(VerdictWords, OneRoundTellsNothing) {
  scenario.rounds = 1;
  runner.throughput = {{"epoll", 70e3}, {"threads", 35e3}, {"io-uring", 105e3}};
  const RaceResult result = judged();
  const CaseResult& one = result.cases.front();
  EXPECT_TRUE(one.verdict.starts_with("No answer: one round does not show the noise.")) << one.verdict;
  EXPECT_EQ(one.verdict.find("told"), std::string::npos) << one.verdict;
  for (const Entry& entry : one.entries) {
    EXPECT_FALSE(entry.place) << entry.contestant.name;
    EXPECT_FALSE(entry.cost_place) << entry.contestant.name;
  }
  for (const CheckResult& check : one.checks) EXPECT_EQ(check.detail.find("tied"), std::string::npos);
}

TEST_F(VerdictWords, TooFewRoundsForTheirNoiseTellNothing) {
  scenario.rounds = 2;
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  runner.wobble = {0.0, 8.0, 1.0, 15.0, 0.5, 4.0, 20.0};
  EXPECT_TRUE(verdict().starts_with("No answer: 2 rounds on this machine were too noisy")) << verdict();
}

TEST_F(VerdictWords, TellCostsWhereTheNoiseHidesTheRest) {
  scenario.rounds = 5;
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  runner.wobble = {0.0, 8.0, 1.0, 15.0, 0.5, 4.0, 20.0};
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!trial.server.usage) return;
    const double cost_us = order.entry.contestant.name == "io-uring" ? 0.1 : 0.2;
    trial.server.usage->user_s = cost_us * 1e-6 * static_cast<double>(trial.load->messages.verified);
    trial.server.usage->system_s = 0;
  };
  const std::string text = verdict();
  EXPECT_TRUE(text.contains("No answer: 5 rounds on this machine were too noisy")) << text;
  EXPECT_TRUE(text.contains("\nThe server of io-uring needs 0.50x the CPU of epoll for a message (")) << text;
}

// The client of these has all of its CPU in use, their server half.
class VerdictOfBounds : public VerdictWords {
 protected:
  VerdictOfBounds() { runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}}; }

  std::string limited(const std::vector<std::string>& names) {
    runner.alter = [=](const TrialOrder& order, std::size_t, Trial& trial) {
      const std::string& name = order.entry.contestant.name;
      if (std::ranges::count(names, name.substr(0, name.find(kAgain))) == 0) return;
      trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.59;
      trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    };
    return verdict();
  }
};

TEST_F(VerdictOfBounds, ABoundAboveAFigureIsFaster) {
  const std::string text = limited({"io-uring"});
  EXPECT_TRUE(text.starts_with("io-uring is faster than epoll: at least 1.50x the throughput (1.")) << text;
  EXPECT_TRUE(
      causes.contains("The client was the limit of io-uring: so much this client can drive, "
                      "and the servers may differ by more. To compare servers, give the client more CPUs, "
                      "or each message more work (-p work --work 10us)."))
      << causes;
}

TEST_F(VerdictOfBounds, ABoundBelowAFigureProvesNothing) {
  runner.throughput["io-uring"] = 40e3;
  const std::string text = limited({"io-uring"});
  EXPECT_EQ(text.find("at least"), std::string::npos) << text;
  EXPECT_EQ(text.find("io-uring is"), std::string::npos) << text;
  EXPECT_TRUE(causes.contains("The client was the limit of io-uring")) << causes;
}

TEST_F(VerdictOfBounds, AFigureIsSlowerThanABoundOrNotComparedWithIt) {
  EXPECT_EQ(limited({"epoll"}).find("io-uring is"), std::string::npos) << limited({"epoll"});
  runner.throughput["io-uring"] = 40e3;
  EXPECT_TRUE(limited({"epoll"}).starts_with("io-uring is slower than epoll: at most 0.57x the throughput"))
      << limited({"epoll"});
}

TEST_F(VerdictOfBounds, WhereAllAreBoundsCostSpeaks) {
  const std::string text = limited({"epoll", "io-uring", "threads"});
  EXPECT_TRUE(
      causes.contains("The client was the limit of epoll, threads and io-uring: so much") &&
      text.starts_with("With this client io-uring answered 1.50x as many messages as epoll (1.") &&
      text.contains("\nThe server of io-uring needs 33 % less CPU for a message than that of epoll (33"))
      << text;
}

// A server that is 3 % dearer shows less than 1 % of it beside a full client: that is no proof that two are
// equal.
TEST_F(VerdictOfBounds, CostsAreNeverEqualBesideAFullClient) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  const std::string text = limited({"epoll", "io-uring", "threads"});
  EXPECT_FALSE(text.contains("equal")) << text;
  EXPECT_TRUE(causes.contains("the servers may differ by more")) << causes;
}

TEST_F(VerdictOfBounds, ALoneBoundSaysSo) {
  scenario = fake_scenario({"epoll"}, 10);
  EXPECT_TRUE(limited({"epoll"}).starts_with("epoll answers at least 70.")) << limited({"epoll"});
}

TEST_F(VerdictWords, NothingIsComparedWithAReferenceThatIsNotRanked) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  RaceResult result = judged();
  for (Entry& entry : result.cases.front().entries)
    if (entry.contestant.name == "epoll") entry.ranked = false, entry.reason = "planted";
  const std::string text = verdict_of(result, result.cases.front());
  EXPECT_EQ(text.find("x epoll"), std::string::npos) << text;
  EXPECT_NE(text.find("epoll is not ranked (planted)"), std::string::npos) << text;
}

TEST_F(VerdictWords, AnInvalidMeasurementHasNoWinner) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { trial.client.build.type = "Debug"; };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("Invalid, compare nothing here: a Debug build")) << text;
  EXPECT_EQ(text.find("x epoll"), std::string::npos) << text;
}

TEST_F(VerdictWords, ALoneContestantHasItsFigure) {
  scenario = fake_scenario({"epoll"}, 10);
  runner.throughput = {{"epoll", 70e3}};
  EXPECT_TRUE(verdict().starts_with("epoll answers 70.")) << verdict();
}

class OpenLoopVerdict : public VerdictWords {
 protected:
  // In an open loop a fake's throughput is its capacity: the latency is the shorter the greater it is.
  OpenLoopVerdict() {
    scenario.cases.front().load.rate_per_s = 5000;
    runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  }
};

TEST_F(OpenLoopVerdict, RanksByLatency) {
  const RaceResult result = judged();
  const CaseResult& one = result.cases.front();
  EXPECT_EQ(find_entry(one, "io-uring")->place, (stats::Places{1, 1}));
  EXPECT_EQ(find_entry(one, "epoll")->place, (stats::Places{2, 3}));
  EXPECT_EQ(find_entry(one, "threads")->place, (stats::Places{2, 3}));
  EXPECT_FALSE(find_entry(one, "io-uring")->summary.ratio) << "throughput is given";
  EXPECT_FALSE(find_entry(one, "io-uring")->at_least);
  const std::string& text = one.verdict;
  EXPECT_TRUE(
      text.starts_with("At 5,000 messages/s: io-uring is faster than epoll: 0.67x the p99 latency (0.6"))
      << text;
  EXPECT_TRUE(
      text.contains("\nthreads and epoll are equal here: any difference of p99 latency is below 3.0 %"))
      << text;
}

TEST_F(OpenLoopVerdict, MeasuresNoCeiling) {
  const RaceResult result = judged();
  EXPECT_TRUE(std::ranges::none_of(result.cases.front().entries,
                                   [](const Entry& entry) { return entry.kind == EntryKind::ceiling; }));
  const CheckResult& headroom = result.cases.front().checks.front();
  EXPECT_EQ(headroom.id, 1);
  EXPECT_EQ(headroom.verdict, Verdict::pass) << headroom.detail;
}

TEST_F(OpenLoopVerdict, ALoneContestantHasItsPercentile) {
  scenario.contestants.resize(1);
  EXPECT_TRUE(verdict().starts_with("At 5,000 messages/s: epoll answers 99 % within 7.3")) << verdict();
}

void keep_samples(Trial& trial, std::uint64_t samples) {
  trial.load->latency_ns = usual_latencies(trial.load->latency_ns.mean(), samples);
}

TEST_F(OpenLoopVerdict, WithTooFewMessagesForThePercentileTheMedianRanks) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { keep_samples(trial, 500); };
  const std::string text = verdict();
  EXPECT_TRUE(
      text.starts_with("At 5,000 messages/s: io-uring is faster than epoll: 0.67x the median latency"))
      << text;
}

TEST_F(OpenLoopVerdict, WithStillFewerTheMeanRanks) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { keep_samples(trial, 15); };
  const std::string text = verdict();
  EXPECT_TRUE(text.starts_with("At 5,000 messages/s: io-uring is faster than epoll: 0.67x the mean latency"))
      << text;
}

TEST_F(OpenLoopVerdict, TheSecondEntryIsComparedByLatencyToo) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.kind == EntryKind::again)
      trial.load->latency_ns = usual_latencies(1.2 * trial.load->latency_ns.mean(), 5000);
  };
  const RaceResult result = judged();
  EXPECT_TRUE(result.cases.front().ranking.reference_differs);
  EXPECT_GT(result.cases.front().ranking.measure.least, 0.15);
}

}  // namespace
}  // namespace joust::race
