// SPDX-License-Identifier: MIT
#include "race/figures/summary.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/judgement/verdict.hpp"

namespace joust::race {
namespace {

class LatencySummary : public testing::Test {
 protected:
  LatencySummary() { one.entries.push_back({.contestant = racer("epoll")}); }

  void add_trial(const std::map<std::uint64_t, std::uint64_t>& histogram) {
    Entry& entry = one.entries.front();
    Trial trial = flawless_trial({.load_case = scenario.cases.front(), .entry = entry}, 50e3);
    trial.round = entry.trials.size() + 1;
    trial.load->latency_ns = latencies(histogram);
    entry.trials.push_back(std::move(trial));
  }
  const Distribution& latency() {
    summarize(one);
    return one.entries.front().summary.latency;
  }

  Scenario scenario = fake_scenario({"epoll"});
  CaseResult one{.reference = "epoll"};
};

TEST_F(LatencySummary, WhatFilesTheLoadCarriedIsTheMedianOfTrials) {
  for (const double mb_per_s : {100.0, 900.0, 300.0}) {
    add_trial({{1000, 10000}});
    one.entries.front().trials.back().load->groups = {
        {.name = "transfer", .figures = {{"mb_per_s", mb_per_s}}}};
  }
  summarize(one);
  EXPECT_EQ(one.entries.front().summary.mb_per_s, 300.0);
}

TEST_F(LatencySummary, WhatCarriesNoFilesHasNoBytesOfThem) {
  add_trial({{1000, 10000}});
  summarize(one);
  EXPECT_FALSE(one.entries.front().summary.mb_per_s);
}

TEST_F(LatencySummary, PercentilesAreThoseOfAllTrialsSamples) {
  add_trial({{1000, 9900}, {1500, 100}});
  add_trial({{1000, 10000}});
  add_trial({{1000, 9000}, {2000, 1000}});
  const Distribution& all = latency();
  EXPECT_EQ(all.count(), 30000U);
  EXPECT_EQ(all.percentile(0.5), 1000U);
  EXPECT_EQ(all.percentile(0.99), 2000U) << "the median of the trials' would be 1500";
  EXPECT_EQ(all.max(), 2000U);
  EXPECT_NEAR(all.mean(), 1035, 0.001);
  EXPECT_TRUE(all.few_beyond(0.999)) << "30 samples lie beyond it";
}

TEST_F(LatencySummary, IntervalsAreThoseOfTheTrialsOwnPercentiles) {
  for (const std::uint64_t p99 : {1500, 1100, 1900, 1300, 1700, 1200}) add_trial({{1000, 900}, {p99, 100}});
  summarize(one);
  const LatencyEstimates& figures = one.entries.front().summary.latency_by_round;
  ASSERT_TRUE(figures.p99);
  EXPECT_EQ(figures.p99->median, 1400);
  EXPECT_EQ(figures.p99->interval, (stats::Interval{1100, 1900}));
  EXPECT_DOUBLE_EQ(figures.p99->confidence, 1 - 2.0 / 64);
  EXPECT_FALSE(figures.p999) << "no trial has enough samples for it";
}

TEST_F(LatencySummary, OfASchedulePoolsAllTrials) {
  scenario.cases.front().load.rate_per_s = 5000;
  for (int i = 0; i < 3; ++i) {
    add_trial({{1000, 10000}});
    LoadResult& load = *one.entries.front().trials.back().load;
    load.messages.unsent = i == 0 ? 2000 : 50;
    load.send_lateness_ns = latencies({{100, 4900}, {500, static_cast<std::uint64_t>(i) * 100}});
  }
  summarize(one);
  const auto& schedule = one.entries.front().summary.schedule;
  ASSERT_TRUE(schedule);
  EXPECT_DOUBLE_EQ(schedule->achieved.median, 0.99) << "one trial alone moves nothing";
  EXPECT_EQ(schedule->lateness.percentile(0.5), 100U);
  EXPECT_EQ(schedule->lateness.percentile(0.99), 500U);
}

TEST(InterimText, IsTheRatioToTheReferenceAndItsIntervalOnceThereIsOne) {
  const Scenario scenario = fake_scenario({"epoll", "threads"});
  CaseResult one{.plan = scenario.cases.front(), .reference = "epoll"};
  for (const Contestant& contestant : scenario.contestants) one.entries.push_back({.contestant = contestant});
  EXPECT_EQ(interim_text(one, {}), "");
  const auto play = [&](std::uint64_t round) {
    for (Entry& entry : one.entries) {
      const double rate = entry.contestant.name == "epoll" ? 100e3 : 50e3;
      Trial trial = flawless_trial({.load_case = one.plan, .entry = entry}, rate);
      trial.round = round;
      entry.trials.push_back(std::move(trial));
    }
  };
  play(1);
  EXPECT_EQ(interim_text(one, {}), "to epoll: threads 0.50");
  for (std::uint64_t round = 2; round <= 8; ++round) play(round);
  EXPECT_EQ(interim_text(one, {}), "to epoll: threads 0.50 ± 0 %");
  EXPECT_EQ(interim_text(one, 0.03), "to epoll: threads 0.50 ± 0 %, goal 3 %");
}

TEST(InterimWarnings, NameTheDisturbedTrialAndTheFullClient) {
  const Scenario scenario = fake_scenario({"epoll", "threads"});
  CaseResult one{.plan = scenario.cases.front(), .reference = "epoll"};
  for (const Contestant& contestant : scenario.contestants) one.entries.push_back({.contestant = contestant});
  EXPECT_TRUE(interim_warnings(one, {}).empty()) << "nothing was measured yet";
  for (Entry& entry : one.entries)
    entry.trials.push_back(flawless_trial({.load_case = one.plan, .entry = entry}, 100e3));
  EXPECT_TRUE(interim_warnings(one, {}).empty());
  one.entries[0].trials.back().late = true;
  one.entries[1].trials.back().load->cpu.user_s = 0.99 * one.entries[1].trials.back().time_of_usage_s();
  const std::vector<std::string> warnings = interim_warnings(one, {});
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_TRUE(warnings[0].starts_with("epoll was observed late")) << warnings[0];
  EXPECT_TRUE(warnings[1].starts_with("the client of threads is full (")) << warnings[1];
}

}  // namespace
}  // namespace joust::race
