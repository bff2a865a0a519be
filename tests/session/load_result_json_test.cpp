// SPDX-License-Identifier: MIT
#include "load/result_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "load/plan_json.hpp"
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

// The structured bindings name every member, so that a new one must come into the document, or be left out
// here on purpose.
auto members(const Recorder::Counts& counts) {
  // latency_sum_ns is that of the histogram.
  const auto& [sent, verified, latency_sum_ns, beside, failed, lost, late, duplicated, in_flight, answered,
               never_answered, oldest_open, unsent, never_sent, open_at_opening, open_at_close, bytes_sent,
               bytes_received] = counts;
  static_cast<void>(latency_sum_ns);
  return std::tuple(sent, verified, beside, failed, lost, late, duplicated, in_flight, answered,
                    never_answered, oldest_open, unsent, never_sent, open_at_opening, open_at_close,
                    bytes_sent, bytes_received);
}

auto members(const Usage& usage) {
  const auto& [user_s, system_s, voluntary, involuntary, peak] = usage;
  return std::tuple(user_s, system_s, voluntary, involuntary, peak);
}

auto members(const std::vector<ResultGroup>& groups) {
  std::vector<std::tuple<std::string, decltype(ResultGroup::figures)>> all;
  for (const auto& [name, figures, about] : groups) all.emplace_back(name, figures);
  return all;
}

auto members(const LoadPlan& plan) {
  return std::tuple(plan_json(plan).dump(), plan.turns);
}

auto members(const LoadResult& result) {
  const auto& [plan, interrupted, connections_ok, connections_failed, reconnects, handovers, unverified,
               lossy, messages, total_bytes_sent, total_bytes_received, window, duration_s, throughput_per_s,
               latency, uncorrected_latency, send_lateness, slices, usage, usage_s, errors, complaints,
               groups, notes, missing] = result;
  return std::tuple(members(plan), interrupted, connections_ok, connections_failed, reconnects, handovers,
                    unverified, lossy, members(messages), total_bytes_sent, total_bytes_received,
                    window.has_value(), window ? window->from : Time(), window ? window->to : Time(),
                    duration_s, throughput_per_s, latency, uncorrected_latency, send_lateness, slices,
                    members(usage), usage_s, errors, complaints, members(groups), notes, missing);
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
       {&result.connections_ok, &result.connections_failed, &result.reconnects, &result.handovers,
        &result.messages.sent, &result.messages.verified, &result.messages.failed, &result.messages.in_flight,
        &result.messages.answered, &result.messages.never_answered, &result.messages.bytes_sent,
        &result.messages.bytes_received, &result.total_bytes_sent, &result.total_bytes_received})
    *count = drawn.number();
  result.messages.oldest_open = Duration(static_cast<Duration::rep>(drawn.number()));
  result.unverified = turns;
  result.lossy = lossy;
  if (lossy)
    for (std::uint64_t* count : {&result.messages.lost, &result.messages.late, &result.messages.duplicated})
      *count = drawn.number();
  if (turns) result.messages.beside = drawn.number();
  result.window = {drawn.time(), drawn.time()};
  result.duration_s = drawn.real();
  result.throughput_per_s = drawn.real();
  result.latency = drawn.distribution();
  if (open_loop) {
    result.messages.unsent = drawn.number();
    result.messages.never_sent = drawn.number();
    result.messages.open_at_opening = drawn.number();
    result.messages.open_at_close = drawn.number();
    result.uncorrected_latency = drawn.distribution();
    result.send_lateness = drawn.distribution();
  }
  result.slices = {drawn.number(), drawn.number()};
  result.usage = {.user_s = drawn.real(),
                  .system_s = drawn.real(),
                  .voluntary_switches = drawn.number(),
                  .involuntary_switches = drawn.number(),
                  .peak_memory_bytes = drawn.number()};
  result.usage_s = drawn.real();
  for (std::uint64_t& failures : result.errors) failures = drawn.number();
  result.complaints = drawn.texts();
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
  RC_ASSERT(members(again) == members(result));
  RC_ASSERT(document_of(again) == document_of(result));
}

TEST(LoadResultJson, ALoadThatMeasuredNothingIsReadToo) {
  LoadResult nothing;
  nothing.plan = {.connections = 3, .messages = 5};
  nothing.connections_failed = 3;
  EXPECT_TRUE(members(read_again(nothing)) == members(nothing));
}

TEST(LoadResultJson, NamesAKeyThatIsMissingOrWrong) {
  const auto error_with = [](auto change) {
    Json document = document_of({});
    change(document);
    const auto result = load_from(document);
    return result ? std::string() : result.error();
  };
  EXPECT_EQ(error_with([](Json&) {}), "");
  EXPECT_NE(error_with([](Json& document) { document["messages"].erase("sent"); }).find("'sent'"),
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
  result.lossy = true;
  EXPECT_EQ(document_of(result)["messages"]["lost"], 0);
}

}  // namespace
}  // namespace joust
