// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "load/channels.hpp"
#include "load/result.hpp"
#include "load/result_json.hpp"
#include "load/run.hpp"
#include "load/schedule.hpp"
#include "load/settings.hpp"
#include "measure/histogram.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

Json document_of(const LoadResult& result) {
  Json document{{"schema", "joust-load/1"}, {"engine", "epoll"}, {"socket", Json::object()}};
  add_load(document, result);
  document["options"] = {{"name", "value"}};
  return Json::parse(document.dump());
}

LoadResult read_again(const LoadResult& result) {
  return load_from(document_of(result)).value();
}

// Draws values, all of them above 0.
class Drawn {
 public:
  std::uint64_t number() { return *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 40); }
  double real() { return static_cast<double>(number()) / 1024; }
  Time time() { return Time(Duration(static_cast<Duration::rep>(number()))); }
  std::vector<std::string> texts() { return {word(), word()}; }
  std::string word() {
    return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  }

  Distribution distribution() {
    Histogram histogram;
    const auto values = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1'000'000'000)));
    for (const std::uint64_t value : values) histogram.record(value, *rc::gen::inRange<std::uint64_t>(1, 9));
    return histogram.distribution();
  }
};

// Draws a result with every member that its kind of load has.
LoadResult drawn_result(bool open_loop, bool turns, bool lossy) {
  Drawn drawn;
  LoadResult result;
  result.plan = {.connections = 7, .duration = std::chrono::milliseconds(1234), .depth = 3};
  if (open_loop) result.plan.rate_per_s = 512.5;
  result.plan.arrivals = result.plan.known_arrivals();
  result.plan.turns = turns;
  result.interrupted = true;
  for (std::uint64_t* count :
       {&result.connections.ok, &result.connections.failed, &result.connections.answered,
        &result.connections.never_answered, &result.reconnects, &result.handovers, &result.messages.sent,
        &result.messages.verified, &result.messages.failed, &result.messages.in_flight, &result.bytes.sent,
        &result.bytes.received, &result.bytes.total_sent, &result.bytes.total_received,
        &result.switches.voluntary, &result.switches.involuntary, &result.peak_memory_bytes})
    *count = drawn.number();
  LoadResult::Messages& messages = result.messages;
  result.oldest_open_ns = Duration(static_cast<Duration::rep>(drawn.number()));
  if (turns) messages.unverified = true;
  if (lossy)
    for (auto* count : {&messages.lost, &messages.late, &messages.duplicated}) *count = drawn.number();
  if (turns) messages.beside = drawn.number();
  result.window_ns = {drawn.time(), drawn.time()};
  result.duration_s = drawn.real();
  result.throughput_per_s = drawn.real();
  result.latency_ns = drawn.distribution();
  if (open_loop) {
    messages.due = messages.sent + drawn.number();
    for (auto* count : {&messages.unsent, &messages.open_at_opening, &messages.open_at_close})
      *count = drawn.number();
    result.uncorrected_latency_ns = drawn.distribution();
    result.send_lateness_ns = drawn.distribution();
  }
  result.slices = {drawn.number(), drawn.number()};
  result.cpu = {.user_s = drawn.real(), .system_s = drawn.real(), .over_s = drawn.real()};
  for (std::uint64_t& failures : result.errors) failures = drawn.number();
  result.messages_of_errors = drawn.texts();
  result.notes = drawn.texts();
  result.missing = drawn.texts();
  result.groups = {
      {.name = "transfer",
       .figures = {{"bytes", drawn.number()}, {"mb_per_s", drawn.real()}, {"way", drawn.word()}}},
      {.name = "deliveries", .figures = {{"expected", drawn.number()}}}};
  return result;
}

RC_GTEST_PROP(LoadResultJson, IsReadAsItWasWritten, (bool open_loop, bool turns, bool lossy)) {
  const LoadResult result = drawn_result(open_loop, turns, lossy);
  const LoadResult again = read_again(result);
  RC_ASSERT(document_of(again) == document_of(result));
  RC_ASSERT(again.plan.turns == result.plan.turns);
  RC_ASSERT(again.latency_ns == result.latency_ns);
  RC_ASSERT(again.uncorrected_latency() == result.uncorrected_latency());
  RC_ASSERT(again.send_lateness() == result.send_lateness());
}

TEST(LoadResultJson, ALoadThatMeasuredNothingIsReadToo) {
  LoadResult nothing;
  nothing.plan = {.connections = 3, .messages = 5};
  nothing.connections.failed = 3;
  EXPECT_EQ(document_of(read_again(nothing)), document_of(nothing));
}

TEST(LoadResultJson, NamesAKeyThatIsMissingOrWrong) {
  const auto error_with = [](auto change) {
    Json document = document_of({});
    change(document);
    const auto result = load_from(document);
    return result ? std::string() : result.error();
  };
  EXPECT_EQ(error_with([](Json&) {}), "");
  EXPECT_NE(error_with([](Json& document) {
              document["messages"].erase("sent");
            }).find("messages.sent: is missing"),
            std::string::npos);
  EXPECT_NE(error_with([](Json& document) { document["cpu"]["user_s"] = -1; }).find("cpu.user_s: is -1"),
            std::string::npos);
  EXPECT_NE(error_with([](Json& document) {
              document["histogram_ns"] = {{1, 2}, {3}};
            }).find("histogram_ns: "),
            std::string::npos);
  EXPECT_NE(
      error_with([](Json& document) { document["plan"]["rate_per_s"] = 5; }).find("messages.due: is missing"),
      std::string::npos);
  EXPECT_NE(
      error_with([](Json& document) { document["errors"]["thinking"] = 1; }).find("'thinking' is no stage"),
      std::string::npos);
  EXPECT_NE(error_with([](Json& document) { document["plan"]["depth"] = 0; }).find("plan: depth"),
            std::string::npos);
  EXPECT_NE(error_with([](Json& document) { document = nullptr; }).find("cannot be read"), std::string::npos);
}

TEST(LoadResultJson, HasLossesOnlyWhereTheyCanBe) {
  LoadResult result;
  EXPECT_FALSE(document_of(result)["messages"].contains("lost"));
  result.messages.lost = 0;
  EXPECT_EQ(document_of(result)["messages"]["lost"], 0);
}

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
