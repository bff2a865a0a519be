// SPDX-License-Identifier: MIT
#include "race/figures/summary.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/judgement/interim_text.hpp"

namespace joust::race {
namespace {

class LatencySummary : public testing::Test {
 protected:
  LatencySummary() { one.entries.push_back({.contestant = racer("epoll")}); }

  void add_trial(std::vector<std::pair<std::uint64_t, std::uint64_t>> histogram, double max, double mean) {
    Entry& entry = one.entries.front();
    Trial trial = flawless_trial({.load_case = scenario.cases.front(), .entry = entry}, 50e3);
    trial.round = entry.trials.size() + 1;
    trial.load->latency_ns.samples = 0;
    for (const auto& [value, count] : histogram) trial.load->latency_ns.samples += count;
    trial.load->latency_ns.max = max;
    trial.load->latency_ns.mean = mean;
    trial.load->histogram_ns = std::move(histogram);
    entry.trials.push_back(std::move(trial));
  }
  const Latency& latency() {
    summarize(one);
    return one.entries.front().summary.latency_ns;
  }

  Scenario scenario = fake_scenario({"epoll"});
  CaseResult one{.reference = "epoll"};
};

TEST_F(LatencySummary, WhatFilesTheLoadCarriedIsTheMedianOfTrials) {
  for (const double mb_per_s : {100.0, 900.0, 300.0}) {
    add_trial({{1000, 10000}}, 1000, 1000);
    nlohmann::json document = nlohmann::json::parse(one.entries.front().trials.back().load->document);
    document["transfer"] = {{"mb_per_s", mb_per_s}, {"way", "sendfile"}};
    one.entries.front().trials.back().load = parse_load(document.dump()).value();
  }
  summarize(one);
  EXPECT_EQ(one.entries.front().summary.mb_per_s, 300.0);
}

TEST_F(LatencySummary, WhatCarriesNoFilesHasNoBytesOfThem) {
  add_trial({{1000, 10000}}, 1000, 1000);
  summarize(one);
  EXPECT_FALSE(one.entries.front().summary.mb_per_s);
}

TEST_F(LatencySummary, PercentilesAreThoseOfAllTrialsSamples) {
  add_trial({{1000, 9900}, {1500, 100}}, 1500, 1005);
  add_trial({{1000, 10000}}, 1000, 1000);
  add_trial({{1000, 9000}, {2000, 1000}}, 2000, 1100);
  const Latency& all = latency();
  EXPECT_TRUE(all.merged);
  EXPECT_EQ(all.samples, 30000U);
  EXPECT_EQ(all.p50, 1000);
  EXPECT_EQ(all.p99, 2000) << "the median of the trials' would be 1500";
  EXPECT_EQ(all.max, 2000);
  EXPECT_NEAR(*all.mean, 1035, 0.001);
  EXPECT_EQ(all.shaky, (std::vector<std::string>{"p999"})) << "30 samples lie beyond it";
}

TEST_F(LatencySummary, WithTooFewSamplesBeyondItThereIsNone) {
  add_trial({{1000, 900}}, 1000, 1000);
  EXPECT_EQ(latency().shaky, (std::vector<std::string>{"p90"}));
  EXPECT_FALSE(latency().p99);
  EXPECT_FALSE(latency().p999);
}

TEST_F(LatencySummary, NoPercentileIsAboveTheGreatest) {
  add_trial({{4'001'791, 1000}}, 4'000'000, 4'000'000);
  EXPECT_EQ(latency().p90, 4'000'000);
}

TEST_F(LatencySummary, WithoutAHistogramMediansStandIn) {
  add_trial({{1000, 10000}}, 1000, 1000);
  add_trial({}, 1000, 1000);
  const Latency& medians = latency();
  EXPECT_FALSE(medians.merged);
  EXPECT_DOUBLE_EQ(*medians.p99, 2e9 * 256 / 50e3) << "as the trials say";
}

TEST_F(LatencySummary, IntervalsAreThoseOfTheTrialsOwnPercentiles) {
  for (const double p99 : {1500.0, 1100.0, 1900.0, 1300.0, 1700.0, 1200.0}) {
    add_trial({{1000, 10000}}, 2000, 1000);
    one.entries.front().trials.back().load->latency_ns.p99 = p99;
    one.entries.front().trials.back().load->latency_ns.p999.reset();
  }
  summarize(one);
  const LatencyEstimates& figures = one.entries.front().summary.latency_by_round;
  ASSERT_TRUE(figures.p99);
  EXPECT_EQ(figures.p99->median, 1400);
  EXPECT_EQ(figures.p99->interval, (stats::Interval{1100, 1900}));
  EXPECT_DOUBLE_EQ(figures.p99->confidence, 1 - 2.0 / 64);
  EXPECT_FALSE(figures.p999) << "no trial has enough samples for it";
}

TEST(LoadDocument, GivesItsSchedule) {
  Scenario scenario = fake_scenario({"epoll"});
  const auto parsed = [&] {
    return parse_load(load_document(scenario.cases.front(), {.engine = "epoll"}, 1e5).dump());
  };
  EXPECT_FALSE(parsed()->schedule) << "a closed loop has none";
  scenario.cases.front().load.rate_per_s = 5000;
  nlohmann::json document = load_document(scenario.cases.front(), {.engine = "epoll"}, 1e5);
  document["messages"]["unsent"] = 70;
  document["send_lateness_histogram_ns"] = {{1000, 3}};
  const auto load = parse_load(document.dump());
  ASSERT_TRUE(load) << load.error();
  ASSERT_TRUE(load->schedule);
  EXPECT_EQ(load->schedule->rate_per_s, 5000);
  EXPECT_EQ(load->schedule->due, 5000U);
  EXPECT_EQ(load->schedule->unsent, 70U);
  EXPECT_EQ(load->schedule->lateness_ns.p99, 10e3);
  EXPECT_EQ(load->schedule->lateness_histogram_ns, (LatencyCounts{{1000, 3}}));
  document["messages"].erase("due");
  EXPECT_FALSE(parse_load(document.dump()));
}

TEST_F(LatencySummary, OfASchedulePoolsAllTrials) {
  scenario.cases.front().load.rate_per_s = 5000;
  for (int i = 0; i < 3; ++i) {
    add_trial({{1000, 10000}}, 1000, 1000);
    ScheduleResult& schedule = *one.entries.front().trials.back().load->schedule;
    schedule.unsent = i == 0 ? 2000 : 50;
    schedule.lateness_ns.max = 500;
    schedule.lateness_histogram_ns = {{100, 4900}, {500, static_cast<std::uint64_t>(i) * 100}};
  }
  summarize(one);
  const auto& schedule = one.entries.front().summary.schedule;
  ASSERT_TRUE(schedule);
  EXPECT_DOUBLE_EQ(schedule->achieved.median, 0.99) << "one trial alone moves nothing";
  EXPECT_EQ(schedule->lateness_ns.p50, 100);
  EXPECT_EQ(schedule->lateness_ns.p99, 500);
}

TEST(LoadDocument, GivesItsHistogram) {
  const Scenario scenario = fake_scenario({"epoll"});
  nlohmann::json document = load_document(scenario.cases.front(), {.engine = "epoll"}, 1e5);
  EXPECT_TRUE(parse_load(document.dump())->histogram_ns.empty());
  document["histogram_ns"] = {{1000, 3}, {2000, 1}};
  const auto load = parse_load(document.dump());
  ASSERT_TRUE(load) << load.error();
  EXPECT_EQ(load->histogram_ns, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1000, 3}, {2000, 1}}));
}

TEST(InterimText, IsTheRatioToTheReferenceAndItsIntervalOnceThereIsOne) {
  const Scenario scenario = fake_scenario({"epoll", "threads"});
  CaseResult one{.plan = scenario.cases.front(), .reference = "epoll"};
  for (const Contestant& contestant : scenario.contestants) one.entries.push_back({.contestant = contestant});
  EXPECT_EQ(interim_text(one), "");
  const auto play = [&](std::uint64_t round) {
    for (Entry& entry : one.entries) {
      const double rate = entry.contestant.name == "epoll" ? 100e3 : 50e3;
      Trial trial = flawless_trial({.load_case = one.plan, .entry = entry}, rate);
      trial.round = round;
      entry.trials.push_back(std::move(trial));
    }
  };
  play(1);
  EXPECT_EQ(interim_text(one), "to epoll: threads 0.50");
  for (std::uint64_t round = 2; round <= 8; ++round) play(round);
  EXPECT_EQ(interim_text(one), "to epoll: threads 0.50 ± 0 %");
}

}  // namespace
}  // namespace joust::race
