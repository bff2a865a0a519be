// SPDX-License-Identifier: MIT
#include "load/result.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "load/channels.hpp"
#include "load/run.hpp"
#include "load/schedule.hpp"
#include "measure/histogram.hpp"

namespace joust {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

LoadResult part(std::uint64_t connections, const std::vector<std::int64_t>& latencies_ns) {
  LoadResult result;
  result.plan.connections = connections;
  result.plan.duration = seconds(2);
  result.connections.ok = connections;
  result.messages.sent = result.messages.verified = latencies_ns.size();
  result.duration_s = 2;
  Histogram histogram;
  for (const std::int64_t latency : latencies_ns) histogram.record(static_cast<std::uint64_t>(latency));
  result.latency_ns = histogram.distribution();
  result.slices = {1, 2};
  result.cpu.user_s = 0.5;
  result.peak_memory_bytes = 100;
  return result;
}

TEST(LoadMerging, CountsAndHistogramsAreAdded) {
  const std::array parts{LoadPart{"a", part(2, {1000, 5000})},
                         LoadPart{"b", part(3, {3000, 70'000, 70'000})}};
  const LoadResult whole = merged(parts);
  EXPECT_EQ(whole.plan.connections, 5U);
  EXPECT_EQ(whole.connections.ok, 5U);
  EXPECT_EQ(whole.messages.verified, 5U);
  EXPECT_DOUBLE_EQ(whole.throughput_per_s, 2.5);
  EXPECT_EQ(whole.latency_ns, part(5, {1000, 5000, 3000, 70'000, 70'000}).latency_ns);
  EXPECT_EQ(whole.slices, (std::vector<std::uint64_t>{2, 4}));
  EXPECT_DOUBLE_EQ(whole.cpu.user_s, 1);
  EXPECT_EQ(whole.peak_memory_bytes, 200U);
  EXPECT_TRUE(whole.clean());
}

TEST(LoadMerging, APartWithoutMeasurementsCountsAsFailed) {
  LoadResult none;
  none.plan.connections = none.connections.failed = 4;
  none.messages_of_errors = {"it has died"};
  const std::array parts{LoadPart{"a", part(2, {1000})}, LoadPart{"b", none}};
  const LoadResult whole = merged(parts);
  EXPECT_EQ(whole.connections.failed, 4U);
  EXPECT_EQ(whole.messages_of_errors, (std::vector<std::string>{"b: it has died"}));
  EXPECT_FALSE(whole.clean());
}

TEST(LoadMerging, OfTheFiguresOfProtocolsOnlyCountsAreKept) {
  LoadResult one = part(1, {1}), other = part(1, {1});
  one.groups = {{.name = "jobs", .figures = {{"done", std::uint64_t{3}}, {"share", 0.5}}}};
  other.groups = {{.name = "jobs", .figures = {{"done", std::uint64_t{4}}, {"share", 0.25}}}};
  const LoadResult whole = merged(std::array{LoadPart{"a", one}, LoadPart{"b", other}});
  ASSERT_EQ(whole.groups.size(), 1U);
  EXPECT_EQ(whole.groups[0].figures.size(), 1U);
  EXPECT_EQ(whole.number("jobs", "done"), 7);
}

TEST(LoadMerging, PartsDifferInConnectionsRateAndSeedOnly) {
  LoadPart one{"a", part(2, {})}, other{"b", part(3, {})};
  other.result.plan.seed = 7;
  EXPECT_EQ(why_no_parts(one, other), "");
  other.result.plan.depth = 4;
  EXPECT_EQ(why_no_parts(one, other), "depth is 1 in a and 4 in b");
  other.result.plan.depth = 1;
  other.result.plan.rate_per_s = 5;
  EXPECT_EQ(why_no_parts(one, other), "only one of a and b has a rate");
}

// Two hosts with two connections each have the schedule that one with four connections has.
TEST(LoadMerging, TheScheduleOfPartsIsThatOfTheWhole) {
  for (const auto arrivals : {LoadPlan::Arrivals::constant, LoadPlan::Arrivals::poisson}) {
    const LoadPlan whole{.connections = 4, .rate_per_s = 100, .arrivals = arrivals};
    LoadPlan second = whole;
    second.connections = 2;
    second.rate_per_s = 50;
    second.first_connection = 2;
    second.all_connections = 4;
    Channels channels(second);
    for (std::uint64_t number = 2; number < 4; ++number) {
      const std::uint64_t own = channels.take().number;
      EXPECT_EQ(own, number);
      Schedule expected(whole, number), schedule(second, own);
      for (Schedule* each : {&expected, &schedule}) each->begin(Time(seconds(100)));
      for (int i = 0; i < 5; ++i, expected.advance(), schedule.advance())
        EXPECT_EQ(schedule.next(), expected.next());
    }
  }
}

TEST(SignalledTime, IsTheTimeThatIsNext) {
  for (const Time now :
       {Time(seconds(1)), Time(seconds(2147)), Time(seconds(2148)), Time(seconds(987'654'321))})
    for (const Duration ahead :
         {Duration(0), Duration(milliseconds(250)), Duration(minutes(15)), Duration(-seconds(1))}) {
      const Time time = now + ahead;
      const int value = signalled_time(time);
      EXPECT_GT(value, 0);
      EXPECT_LE(std::chrono::abs(time_of_signal(value, now) - time), microseconds(1));
    }
}

}  // namespace
}  // namespace joust
