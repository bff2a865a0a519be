// SPDX-License-Identifier: MIT
#include "load/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "distribution.hpp"
#include "sanitized.hpp"
#include "stats/noise.hpp"

namespace joust {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::distribution_of;

TEST(Criterion, IsReadAsPeopleWriteIt) {
  const auto p99 = parse_criterion("p99<1ms");
  ASSERT_TRUE(p99);
  EXPECT_EQ(p99->figure, "p99");
  EXPECT_EQ(p99->quantile, 0.99);
  EXPECT_EQ(p99->limit, milliseconds(1));
  EXPECT_TRUE(parse_criterion("p99.9 < 500us"));
  EXPECT_TRUE(parse_criterion("max<1s"));
  EXPECT_EQ(parse_criterion("p99").error(), "'p99': there is no '<' (write it like p99<1ms)");
  EXPECT_NE(parse_criterion("p42<1ms").error().find("there is no 'p42'; there are: p50"), std::string::npos);
  EXPECT_NE(parse_criterion("p99<1").error().find("has no unit"), std::string::npos);
  EXPECT_NE(parse_criterion("p99<0s").error().find("above 0"), std::string::npos);
}

// A server whose latency is 1 ms up to its capacity, and 50 ms above it.
struct Model {
  double capacity = 40'000;
  double disturbed = 0;      // share of the tries that something else spoils
  Duration load_late{1000};  // of the load itself, above the capacity
  std::mt19937 random{5};
  std::vector<LoadPlan> asked{};

  LoadResult operator()(const LoadPlan& plan) {
    asked.push_back(plan);
    LoadResult load;
    load.plan = plan;
    load.connections.ok = plan.connections;
    const bool over = plan.rate_per_s > capacity;
    if (!plan.open_loop()) {
      load.messages.verified = static_cast<std::uint64_t>(capacity);
      return load;
    }
    const bool spoilt = std::uniform_real_distribution(0.0, 1.0)(random) < disturbed;
    const double messages = plan.rate_per_s * std::chrono::duration<double>(plan.duration).count();
    load.messages.sent = load.messages.verified = static_cast<std::uint64_t>(messages);
    load.latency_ns = distribution_of({{over || spoilt ? 50'000'000 : 1'000'000, load.messages.verified}});
    load.send_lateness_ns =
        distribution_of({{static_cast<std::uint64_t>(over ? load_late.count() : 500), load.messages.sent}});
    return load;
  }
};

const Criterion kWanted{.figure = "p99", .quantile = 0.99, .limit = milliseconds(10)};
const LoadPlan kStep{.connections = 10, .duration = seconds(1)};

TEST(RateSearch, FindsTheCapacityWithinFivePercent) {
  for (const double capacity : {260.0, 1000.0, 1234.0, 40'000.0, 2e6}) {
    Model model{.capacity = capacity};
    const SearchResult found = search_rate(kWanted, kStep, std::ref(model));
    ASSERT_TRUE(found.limit && found.highest_held && found.lowest_failed) << capacity;
    EXPECT_LE(found.limit->low, capacity);
    EXPECT_GE(found.limit->high, capacity);
    EXPECT_LE(found.limit->high / found.limit->low, 1.05);
    EXPECT_EQ(found.capacity_per_s, capacity);
    EXPECT_LE(*found.highest_held, capacity);
    EXPECT_GT(*found.lowest_failed, capacity);
    EXPECT_LT(found.steps.size(), 40U);
    EXPECT_FALSE(found.limited_by_load);
  }
}

TEST(RateSearch, ATryInTenThatIsSpoiledDoesNotMoveItFar) {
  int near = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    Model model{.disturbed = 0.1, .random = std::mt19937(seed)};
    const SearchResult found = search_rate(kWanted, kStep, std::ref(model));
    near += found.limit && found.limit->high > 0.95 * model.capacity && found.limit->low < model.capacity;
  }
  EXPECT_GE(near, 40);
}

// 60,000 holds once, by luck.
TEST(RateSearch, ARateThatHeldOnceIsNotBelieved) {
  Model model;
  bool lucky = true;
  const auto run = [&](const LoadPlan& plan) {
    model.capacity =
        plan.rate_per_s > 50'000 && plan.rate_per_s < 100'000 && std::exchange(lucky, false) ? 1e9 : 40'000;
    return model(plan);
  };
  const SearchResult found = search_rate(kWanted, kStep, run);
  ASSERT_TRUE(found.limit);
  EXPECT_LE(found.limit->low, 40'000);
  EXPECT_GE(found.limit->high, 40'000);
  EXPECT_LT(found.limit->rate_per_s, 44'000);
}

TEST(RateSearch, StepsAreLongEnoughForThePercentile) {
  Model model{.capacity = 5000};
  search_rate({.figure = "p99.9", .quantile = 0.999, .limit = milliseconds(10)}, kStep, std::ref(model));
  EXPECT_NEAR(model.asked[1].rate_per_s, 3000, 1e-6);
  EXPECT_EQ(model.asked[1].duration, seconds(4)) << "12,000 messages make it known";
  EXPECT_LT(model.asked.back().duration, seconds(3));
}

// The closed loop before lasts a second.
TEST(RateSearch, StepsStayShortAlsoWhereTheCallerKeepsThePlanOfEach) {
  Model model;
  LoadPlan plan = kStep;
  plan.duration = kSearchWindow;
  const auto run = [&](const LoadPlan& step) {
    plan = step;
    return model(plan);
  };
  search_rate(kWanted, plan, run);
  EXPECT_EQ(model.asked.front().duration, seconds(1));
  EXPECT_EQ(model.asked.back().duration, kSearchWindow);
}

TEST(RateSearch, ALimitThatNeverHoldsEndsSoon) {
  Model model{.disturbed = 1};
  const SearchResult found = search_rate(kWanted, kStep, std::ref(model));
  EXPECT_FALSE(found.highest_held);
  EXPECT_FALSE(found.limit);
  EXPECT_LE(found.steps.size(), 30U);
  EXPECT_LT(*found.lowest_failed, 1000) << "a fortieth of the capacity";
}

TEST(RateSearch, AServerThatAnswersNothingIsNotSearched) {
  Model model{.capacity = 0};
  const SearchResult found = search_rate(kWanted, kStep, std::ref(model));
  EXPECT_EQ(found.lost, "no reply");
  EXPECT_TRUE(found.steps.empty());
}

TEST(RateSearch, TheLoadsOwnLatenessIsNotBlamedOnTheServer) {
  Model model{.load_late = milliseconds(20)};
  const SearchResult found = search_rate(kWanted, kStep, std::ref(model));
  EXPECT_TRUE(found.limited_by_load);
  const auto is_told = [](const SearchStep& step) { return step.why.contains("the load itself was late"); };
  EXPECT_TRUE(std::ranges::any_of(found.steps, is_told));
}

TEST(RateSearch, WhatIsNotSentOrFailsDoesNotHold) {
  const auto why = [](auto change) {
    const auto run = [&](const LoadPlan& plan) {
      LoadResult load = Model{}(plan);
      if (plan.open_loop()) change(load);
      return load;
    };
    LoadPlan plan = kStep;
    plan.rate_per_s = 1000;
    const SearchResult found = search_rate(kWanted, plan, run);
    const SearchStep& first = found.steps.front();
    EXPECT_EQ(first.held == Held::yes, first.why.empty());
    return first.why;
  };
  EXPECT_EQ(why([](LoadResult&) {}), "");
  EXPECT_EQ(why([](LoadResult& load) { load.messages.unsent = 60; }), "only 95.0 % of the rate was kept");
  EXPECT_EQ(why([](LoadResult& load) { load.interrupted = true; }), "interrupted");
  EXPECT_EQ(why([](LoadResult& load) { load.connections.failed = 1; }), "1 connection failed");
  EXPECT_EQ(why([](LoadResult& load) { load.messages.lost = 1; }), "1 message lost");
  EXPECT_EQ(why([](LoadResult& load) { load.messages.verified = 0; }), "no reply");
  EXPECT_EQ(why([](LoadResult& load) {
              load.latency_ns = distribution_of({{1'000'000, 500}});
            }),
            "too few messages for p99");
}

// It begins no try after its time, and says what is known by then.
TEST(RateSearch, EndsWithItsTime) {
  Model model;
  const SearchResult none = search_rate(kWanted, kStep, std::ref(model), Duration{});
  EXPECT_TRUE(none.is_cut);
  EXPECT_TRUE(none.steps.empty());
  const auto slow = [&](const LoadPlan& plan) {
    std::this_thread::sleep_for(milliseconds(20));
    return model(plan);
  };
  const SearchResult some = search_rate(kWanted, kStep, slow, milliseconds(150));
  EXPECT_TRUE(some.is_cut);
  EXPECT_GE(some.steps.size(), 3U);
  EXPECT_LE(some.steps.size(), 8U);
}

// Where a percentile cannot be known a higher rate is tried, not a lower one.
TEST(RateSearch, TooFewMessagesDoNotLowerTheRate) {
  Model model;
  LoadPlan slow = kStep;
  slow.rate_per_s = 5;
  const SearchResult found = search_rate(kWanted, slow, std::ref(model));
  EXPECT_EQ(found.steps.front().held, Held::unknown);
  ASSERT_TRUE(found.limit);
  EXPECT_NEAR(found.limit->rate_per_s, 40'000, 1'000);
}

TEST(RateSearch, AServerThatIsGoneIsNotAnswered) {
  Model model;
  const auto run = [&](const LoadPlan& plan) {
    LoadResult load = model(plan);
    if (plan.rate_per_s < 10'000) return load;
    load.connections.ok = 0;
    load.connections.failed = plan.connections;
    load.messages_of_errors = {"connect: Connection refused"};
    load.errors[static_cast<std::size_t>(Stage::connect)] = plan.connections;
    return load;
  };
  const SearchResult found = search_rate(kWanted, kStep, run);
  EXPECT_EQ(found.lost, "connect: Connection refused");
  EXPECT_EQ(found.steps.back().plan.rate_per_s, 24'000);
  EXPECT_FALSE(found.highest_held);
}

// A server that works 45 us on each message, one after the other, with requests that arrive by chance: its
// p99 is 1 ms at 20,100 messages/s. Now and then the machine stands still, for client and server alike.
struct Queue {
  double stalls_per_s = 0, stall_s = 0;
  Duration set_up = milliseconds(15);
  Duration most = seconds(30);
  stats::Random random{3};
  Duration spent{};

  LoadResult operator()(const LoadPlan& plan) {
    constexpr double kService_s = 45e-6;
    const auto exponential = [&](double mean) { return -mean * std::log(stats::noise::uniform(random)); };
    LoadResult load;
    load.plan = plan;
    load.connections.ok = plan.connections;
    spent += plan.warmup + plan.duration + set_up;
    load.interrupted = spent > most;
    if (!plan.open_loop()) {
      load.messages.verified = 22'200;
      return load;
    }
    const double opens = std::chrono::duration<double>(plan.warmup).count();
    const double closes = opens + std::chrono::duration<double>(plan.duration).count();
    Histogram latency;
    double free_at = 0, next_stall = stalls_per_s > 0 ? exponential(1 / stalls_per_s) : 1e9;
    for (double due = exponential(1 / plan.rate_per_s); due < closes;
         due += exponential(1 / plan.rate_per_s)) {
      while (next_stall < std::max(due, free_at)) {
        free_at = std::max(free_at, next_stall) + stall_s;
        next_stall += stall_s + exponential(1 / stalls_per_s);
      }
      free_at = std::max(free_at, due) + kService_s;
      if (due < opens) continue;
      ++load.messages.sent, ++load.messages.verified;
      latency.record(static_cast<std::uint64_t>(1e9 * (free_at - due)), 1);
    }
    load.latency_ns = latency.distribution();
    load.send_lateness_ns = distribution_of({{1000, load.messages.sent}});
    return load;
  }
};

// A p99 of a tenth of a second in which the machine stands still is the machine's. What is searched is the
// limit of the others.
TEST(RateSearch, StallsOfTheMachineDoNotMoveTheLimit) {
  constexpr double kLimit = 20'100;
  const Criterion wanted{.figure = "p99", .quantile = 0.99, .limit = milliseconds(1)};
  const LoadPlan step{.connections = 50, .duration = kSearchWindow, .warmup = kSearchWarmup};
  const unsigned searches = test::is_sanitized() ? 1 : 5;
  const auto near = [&](double stalls_per_s, double stall_s) {
    unsigned found_near = 0;
    for (unsigned seed = 1; seed <= searches; ++seed) {
      Queue queue{.stalls_per_s = stalls_per_s, .stall_s = stall_s, .random = stats::Random(seed)};
      const SearchResult found = search_rate(wanted, step, std::ref(queue));
      found_near += found.limit && std::abs(found.limit->rate_per_s / kLimit - 1) < 0.1;
    }
    return found_near;
  };
  EXPECT_EQ(near(0, 0), searches);
  EXPECT_EQ(near(1, 0.005), searches);
  EXPECT_GE(near(3, 0.008), searches * 4 / 5) << "every third try is spoilt";
}

// Latencies of servers, by the rate, and how many of these searches have the true limit in their interval.
// The figure of each step has noise, as a p99 of a second has.
struct Server {
  double (*p99_ms)(double rate_per_s);
  double limit_ms, holds_up_to_per_s;
};

double knee(double rate_per_s) {
  return rate_per_s < 40e3 ? 0.1 / (1 - rate_per_s / 40e3) : 1e9;
}

double gentle(double rate_per_s) {
  return 0.1 * (1 + rate_per_s / 8e3);
}

const int kSearches = test::is_sanitized() ? 6 : 30;

int contained(const Server& server, double noise, unsigned seed) {
  stats::Random random(seed);
  int contained = 0;
  for (int i = 0; i < kSearches; ++i) {
    RateSearch search(24e3 * std::exp(0.7 * stats::noise::uniform(random)), 400, 60e3);
    for (int tries = 0; search.next() && tries < 60; ++tries) {
      const auto rate = search.next();
      const double p99 = server.p99_ms(*rate) * std::exp(noise * stats::noise::normal(random));
      search.tried(p99 < server.limit_ms ? Held::yes : Held::no);
    }
    contained += search.limit() && search.limit()->low <= server.holds_up_to_per_s &&
                 search.limit()->high >= server.holds_up_to_per_s;
  }
  return contained;
}

TEST(RateSearch, TheIntervalContainsTheLimitInNineOfTenSearches) {
  int all = 0, of = 0;
  for (const Server& server : {Server{knee, 1, 36e3}, Server{gentle, 0.6, 40e3}})
    for (const double noise : {0.1, 0.2}) {
      const int here = contained(server, noise, 7);
      EXPECT_GE(here, kSearches * 85 / 100) << server.limit_ms << " ms, noise " << noise;
      all += here;
      of += kSearches;
    }
  EXPECT_GE(all, of * 9 / 10);
}

}  // namespace
}  // namespace joust
