// SPDX-License-Identifier: MIT
#include "load/result_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

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

}  // namespace
}  // namespace joust
