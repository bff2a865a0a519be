// SPDX-License-Identifier: MIT
#include "history/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "history/document.hpp"

namespace joust::history {
namespace {

using report::page::Document;
using stats::Decision;

constexpr double kNoise = 0.005;  // of a round

class AcrossTime : public ::testing::Test {
 protected:
  std::mt19937_64 random{1};
  std::vector<double> races{};  // the values of a figure in earlier ones

  // A race of one contestant on a machine that was faster by this factor on that day.
  Document race(double throughput, double day = 1) {
    return document_with({contestant_with("epoll", 1000 * throughput * day, 5 / day, kNoise, random)});
  }

  void know_scatter(double scatter, std::size_t number) {
    std::normal_distribution<double> day(0, scatter);
    races.clear();
    for (std::size_t i = 0; i < number; ++i) races.push_back(1000 * std::exp(day(random)));
  }

  Change throughput(const Document& base, const Document& now) {
    const auto earlier = [this](const std::string&, const std::string&) { return races; };
    return compare(base, now, earlier, {}).front();
  }
};

TEST_F(AcrossTime, WithoutEarlierRacesNoDifferenceBelowTenPercentIsTold) {
  EXPECT_EQ(throughput(race(1), race(0.93)).decision, Decision::undecided);
  EXPECT_EQ(throughput(race(1), race(1.08)).decision, Decision::undecided);
  EXPECT_EQ(throughput(race(1), race(0.80)).decision, Decision::differ);
  EXPECT_EQ(throughput(race(1), race(1.25)).decision, Decision::differ);
  EXPECT_EQ(throughput(race(1), race(1)).decision, Decision::undecided);
  know_scatter(0.001, kRacesOfScatter - 1);
  EXPECT_EQ(throughput(race(1), race(0.93)).decision, Decision::undecided);
}

TEST_F(AcrossTime, KnownScatterTellsSmallerDifferences) {
  know_scatter(0.003, 12);
  EXPECT_EQ(throughput(race(1), race(0.93)).decision, Decision::differ);
  EXPECT_EQ(throughput(race(1), race(1)).decision, Decision::equal);
}

// The rounds of both races say nothing of what a day does to all of them.
TEST_F(AcrossTime, EqualsDifferInFewRacesThoughEachDayIsAnother) {
  constexpr double kDays = 0.02;
  constexpr int kRaces = 400;
  std::normal_distribution<double> day(0, kDays);
  int told = 0, by_rounds_alone = 0, outside = 0;
  for (int i = 0; i < kRaces; ++i) {
    know_scatter(kDays, 8);
    const Change change = throughput(race(1, std::exp(day(random))), race(1, std::exp(day(random))));
    told += change.decision == Decision::differ;
    outside += !change.ratio.interval.contains(1);
    by_rounds_alone += std::abs(std::log(change.ratio.estimate)) > 4 * kNoise / std::sqrt(8.0 / 2);
  }
  EXPECT_LE(told, kRaces / 100);  // of two figures; a tenth of a percent of them is another 0.5 %
  EXPECT_LE(outside, kRaces / 25);
  EXPECT_GE(by_rounds_alone, kRaces / 4) << "otherwise the days are too much alike for a test";
}

// Each race more makes it easier to tell a difference, and not harder.
TEST_F(AcrossTime, AGreatDifferenceIsToldWithHoweverManyRaces) {
  for (std::size_t number = 0; number <= 20; ++number) {
    know_scatter(0.01, number);
    EXPECT_EQ(throughput(race(1), race(0.1)).decision, Decision::differ) << number;
  }
}

TEST_F(AcrossTime, AStepOfTheSeriesHidesNoLaterDifference) {
  std::normal_distribution<double> day(0, 0.01);
  races.clear();
  for (int i = 0; i < 20; ++i) races.push_back((i < 10 ? 1000 : 1200) * std::exp(day(random)));
  EXPECT_EQ(throughput(race(1.2), race(1.0)).decision, Decision::differ);
}

TEST_F(AcrossTime, AContestantThatIsGoneIsNamed) {
  Document base = document_with(
      {contestant_with("epoll", 1000, 5, kNoise, random), contestant_with("poll", 1000, 5, kNoise, random)});
  const auto earlier = [](const std::string&, const std::string&) { return std::vector<double>(); };
  const std::vector<Change> changes = compare(base, race(1), earlier, {});
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes.back().contestant, "poll");
  EXPECT_EQ(changes.back().missing, "the new result has no such contestant");
}

TEST_F(AcrossTime, AContestantThatIsMissingHasTheReason) {
  Document now = document_with({contestant_with("poll", 1000, 5, kNoise, random)});
  const Change change = throughput(race(1), now);
  EXPECT_EQ(change.contestant, "poll");
  EXPECT_EQ(change.missing, "the base result has no such contestant");
  EXPECT_EQ(change.decision, Decision::undecided);
}

TEST_F(AcrossTime, AContestantThatIsNotRankedHasTheReason) {
  Document now = race(1);
  now.cases.front().contestants.front().ranked = false;
  now.cases.front().contestants.front().reason = "wrong replies";
  EXPECT_EQ(throughput(race(1), now).missing, "in the new result it is not ranked (wrong replies)");
}

TEST_F(AcrossTime, ABoundDecidesNothing) {
  know_scatter(0.003, 12);
  Document now = race(0.5);
  now.cases.front().contestants.front().at_least = true;
  const Change change = throughput(race(1), now);
  EXPECT_TRUE(change.bounds.contestant);
  EXPECT_EQ(change.decision, Decision::undecided);
}

TEST_F(AcrossTime, OneRoundTellsNothing) {
  Document one = document_with({contestant_with("epoll", 500, 5, kNoise, random, 1)});
  const Change change = throughput(race(1), one);
  EXPECT_FALSE(change.ratio.is_known());
  EXPECT_EQ(change.decision, Decision::undecided);
}

TEST_F(AcrossTime, AnotherLoadIsNotTheSameRace) {
  Document now = race(1);
  EXPECT_EQ(why_not_the_same(race(1), now, "old", "new"), "");
  now.cases.front().identity = "http";
  now.cases.front().load_words = "http";
  EXPECT_EQ(why_not_the_same(race(1), now, "old", "new"),
            "case 'main' has another load: echo in old, http in new");
  now.cases.front().name = "other";
  EXPECT_EQ(why_not_the_same(race(1), now, "old", "new"), "old has no case 'other'");
}

TEST_F(AcrossTime, FactsThatDifferAreNamed) {
  Document now = race(1);
  EXPECT_TRUE(different_facts(race(1), now).empty());
  now.race.environment["kernel"] = "6.2";  // the fingerprint is still the same: it does not count
  EXPECT_TRUE(different_facts(race(1), now).empty());
  now.race.environment["fingerprint"] = "other";
  EXPECT_EQ(different_facts(race(1), now), std::vector<std::string>{"kernel: '6.1' and '6.2'"});
  now.race.environment["host"] = "there";
  EXPECT_EQ(different_facts(race(1), now).front(), "host: 'here' and 'there'");
}

TEST(Series, IsThatOfTheLoadTheContestantAndItsClient) {
  std::mt19937_64 random{1};
  const Document document = document_with({contestant_with("epoll", 1000, 5, kNoise, random)});
  const report::page::Case& load_case = document.cases.front();
  report::page::Case other = load_case;
  const std::string series = series_of(load_case, load_case.contestants.front());
  EXPECT_EQ(series.size(), 32U);
  other.title = "another title";
  EXPECT_EQ(series_of(other, load_case.contestants.front()), series);
  other.identity = "http";
  EXPECT_NE(series_of(other, load_case.contestants.front()), series);
  report::page::Contestant contestant = load_case.contestants.front();
  contestant.client_engine = "threads";
  EXPECT_NE(series_of(load_case, contestant), series);
}

}  // namespace
}  // namespace joust::history
