// SPDX-License-Identifier: MIT
#include "report/load_text.hpp"

#include <gtest/gtest.h>

#include "distribution.hpp"

namespace joust {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A thousand replies in a window of this length.
LoadResult result_of(double duration_s) {
  LoadResult result;
  result.connections.ok = 1;
  result.messages.sent = result.messages.verified = 1000;
  result.connections.answered = 1;
  result.duration_s = result.cpu.over_s = duration_s;
  result.throughput_per_s = 1000 / duration_s;
  result.set_usage({.user_s = 0.3, .system_s = 0.1, .peak_memory_bytes = 5 << 20});
  return result;
}

TEST(LoadText, TheShareOfACoreIsOfTheTimeThatItsCpuTimeCovers) {
  LoadResult result = result_of(0.5);
  result.cpu.over_s = 0.8;
  EXPECT_TRUE(has(load_text(result), ", 50 % of a core, ")) << load_text(result);
}

TEST(LoadText, AShortWindowHasNoCpuTime) {
  for (const double duration_s : {10e-6, 0.009}) {
    const std::string text = load_text(result_of(duration_s));
    EXPECT_FALSE(has(text, "%")) << text;
    EXPECT_FALSE(has(text, "CPU per message")) << text;
    EXPECT_TRUE(has(text, "peak user memory; its CPU time cannot be told in less than 10 ms\n")) << text;
  }
}

TEST(LoadText, ThePlanIsToldWithItsLength) {
  LoadPlan plan{.connections = 10, .duration = std::chrono::milliseconds(300)};
  EXPECT_EQ(plan_text(plan), "10 connections, 300 ms");
  plan.warmup = std::chrono::milliseconds(100), plan.depth = 8;
  EXPECT_EQ(plan_text(plan),
            "10 connections, up to 8 requests outstanding on each, 300 ms after 100 ms of warm-up");
  plan = {.messages = 5, .interval = std::chrono::milliseconds(10)};
  EXPECT_EQ(plan_text(plan), "1 connection, a message every 10.0 ms on each, 5 messages on each");
}

// A percentile that hangs on a few samples has a mark, and the mark a legend.
TEST(LoadText, ThinPercentilesAreMarkedAndTheMarkIsExplained) {
  LoadResult result = result_of(1);
  result.latency_ns = test::distribution_of({{1000, 1'000'000}});
  EXPECT_FALSE(has(load_text(result), "~")) << load_text(result);
  result = result_of(1);
  result.latency_ns = test::distribution_of({{1000, 20'000}});
  EXPECT_TRUE(has(load_text(result), "p99.9 1.00 us~")) << load_text(result);
  EXPECT_TRUE(has(load_text(result), "~ too few samples")) << load_text(result);
}

TEST(LoadText, MemoryThatWasNotReadIsNotZero) {
  LoadResult result = result_of(1);
  EXPECT_TRUE(has(load_text(result), ", 5.00 MiB peak user memory\n")) << load_text(result);
  result.peak_memory_bytes = 0;
  EXPECT_TRUE(has(load_text(result), ", peak user memory not known\n")) << load_text(result);
}

TEST(LoadText, WhatWasLostIsToldWhereItCanBe) {
  LoadResult result = result_of(1);
  EXPECT_FALSE(has(load_text(result), "lost")) << load_text(result);
  result.messages.lost = 12;
  result.messages.sent = 1012;
  EXPECT_TRUE(has(load_text(result), "1012 sent, 1000 verified, 0 failed, 12 lost, 0 in flight"))
      << load_text(result);
  EXPECT_FALSE(has(load_text(result), "late,")) << load_text(result);
  result.messages.late = 3;
  EXPECT_TRUE(has(load_text(result), "  replies      3 late, 0 duplicated (of the whole run)\n"))
      << load_text(result);
}

TEST(LoadText, WhatCameBackIsTold) {
  LoadResult result = result_of(1);
  result.errors[static_cast<std::size_t>(Stage::connect)] = 3;
  result.errors[static_cast<std::size_t>(Stage::receive)] = 1;
  EXPECT_FALSE(has(load_text(result), "reconnects"));
  EXPECT_TRUE(has(load_text(result), "3 connections at stage connect"));
  result.plan.reconnect = LoadPlan::Reconnect::always;
  result.reconnects = 1;
  EXPECT_TRUE(has(load_text(result), "  reconnects   1 (of the whole run)\n")) << load_text(result);
  EXPECT_TRUE(has(load_text(result), "3 dials at stage connect"));
  EXPECT_TRUE(has(load_text(result), "1 connection at stage receive"));
}

TEST(LoadText, ConnectionsThatHaveEndedWithRepliesAreTold) {
  LoadResult result = result_of(1);
  EXPECT_FALSE(has(load_text(result), "handovers"));
  result.handovers = 1'234;
  EXPECT_TRUE(has(load_text(result),
                  "  handovers    1,234: the server ended the connection with a reply (of the "
                  "whole run)\n"))
      << load_text(result);
}

TEST(LoadText, FailuresAfterTheWindowDoNotContradictIt) {
  LoadResult result = result_of(1);
  result.connections.ok = 0, result.connections.failed = 1;
  result.errors[static_cast<std::size_t>(Stage::timeout)] = 1;
  const std::string text = load_text(result);
  EXPECT_TRUE(has(text, "in the timed window: 1000 sent, 1000 verified, 0 failed, ")) << text;
  EXPECT_TRUE(has(text, "failed       1 connection at stage timeout (of the whole run)\n")) << text;
}

TEST(LoadText, AWindowHasTheUnitThatFitsIt) {
  EXPECT_TRUE(load_text(result_of(10.2e-6)).starts_with("  duration     10.2 us\n"))
      << load_text(result_of(10.2e-6));
  EXPECT_TRUE(has(load_text(result_of(0.061)), "duration     61.0 ms\n"));
  EXPECT_TRUE(has(load_text(result_of(2)), "duration     2.00 s\n"));
  LoadResult never;
  EXPECT_FALSE(has(load_text(never), "duration")) << "the window never opened";
}

// The lines and their order are those that readers of other load generators know.
TEST(LoadText, BeginsWithTheSummaryOfARun) {
  LoadResult result = result_of(4.339);
  result.connections.ok = result.connections.answered = 4000;
  result.messages.sent = result.messages.verified = 1'200'000;
  result.bytes.sent = 41'235'000, result.bytes.received = 56'923'869;
  result.throughput_per_s = 276'561.42;
  EXPECT_TRUE(load_text(result).starts_with(R"(  duration     4.34 s
  connections  4000 ok, 0 failed
  messages     in the timed window: 1200000 sent, 1200000 verified, 0 failed, 0 in flight at its end
  bytes        41,235,000 sent, 56,923,869 received
  throughput   276,561 messages/s
  bandwidth    76.0 Mbps sent, 105 Mbps received
)")) << load_text(result);
}

TEST(LoadText, CpuTimeHasTheUnitThatFitsIt) {
  LoadResult result = result_of(1);
  EXPECT_TRUE(has(load_text(result), "this client  400 us CPU per message, ")) << load_text(result);
  result.messages.verified = 4;
  EXPECT_TRUE(has(load_text(result), "this client  100 ms CPU per message, ")) << load_text(result);
}

TEST(LoadText, FiguresOfAGroupAreForReaders) {
  LoadResult result = result_of(1);
  result.groups = {{"transfer",
                    {{"bytes", std::uint64_t{268435456}},
                     {"seconds", 0.173379832},
                     {"mb_per_s", 1548.2507561779155},
                     {"transfers", std::uint64_t{1}},
                     {"way", std::string("sendfile")}}},
                   {"deliveries", {{"expected", std::uint64_t{1000000}}, {"out_of_order", std::uint64_t{0}}}},
                   {"own", {{"share", 0.123456}, {"wait_seconds", 2e-6}, {"bytes", std::string("many")}}}};
  const std::string text = load_text(result);
  EXPECT_TRUE(has(text, "\n  transfer     268 MB   173 ms   1,548 MB/s   transfers 1   way sendfile\n"))
      << text;
  EXPECT_TRUE(has(text, "\n  deliveries   expected 1,000,000   out of order 0\n")) << text;
  EXPECT_TRUE(has(text, "\n  own          share 0.123   wait 2.00 us   bytes many\n")) << text;
}

TEST(LoadText, WhatWasRefusedHasNoRate) {
  LoadResult result = result_of(1);
  result.messages.verified = 0, result.messages.failed = 1000;
  result.throughput_per_s = 0;
  EXPECT_FALSE(has(load_text(result), "throughput")) << load_text(result);
}

TEST(LoadText, ConnectionsThatHaveAllFailedHaveNoRate) {
  LoadResult result = result_of(0.002);
  result.connections.ok = 0, result.connections.failed = 4;
  result.messages.failed = 4;
  for (const char* rate : {"throughput", "bandwidth"}) EXPECT_FALSE(has(load_text(result), rate));
  result.connections.ok = 1;
  for (const char* rate : {"throughput", "bandwidth"}) EXPECT_TRUE(has(load_text(result), rate));
}

TEST(LoadText, AGroupSaysWhatItIsOf) {
  LoadResult result = result_of(1);
  result.groups = {{"deliveries", {{"expected", std::uint64_t{5}}}, "of the whole run"}};
  EXPECT_TRUE(has(load_text(result), "expected 5   (of the whole run)\n")) << load_text(result);
}

}  // namespace
}  // namespace joust
