// SPDX-License-Identifier: MIT
//
// A load whose connections have many requests outstanding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "load/run.hpp"
#include "protocols/table.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// However deep a connection is: what is written ahead is bounded, and goes on as the socket takes it.
TEST(Depth, RequestsAreWrittenAsTheyCanBeSent) {
  constexpr std::size_t kPayload = 64 << 10, kMessages = 1000, kMostAhead = 512 << 10;
  LoadRun run({.messages = kMessages, .depth = 100'000});
  const auto client = builtin_protocols().front().make_client({.payload = kPayload}, run);
  const auto session = client->open({});
  const Time opened = Time(seconds(1));
  session->on_open(opened);
  std::size_t sent = 0, most = 0, idle = 0;
  for (Time now = opened; !session->finished() && idle < 3; now += milliseconds(1)) {
    if (const auto due = session->deadline(); due && *due <= now) session->on_deadline(now);
    std::array<Segment, 64> segments;
    std::string text;
    for (const Segment& segment : std::span(segments.data(), session->output(segments)))
      text += as_text(segment.bytes);
    idle = text.empty() ? idle + 1 : 0;
    most = std::max(most, text.size());
    session->consumed(text.size());
    session->released(text.size());
    sent += text.size();
    if (!text.empty()) {
      ASSERT_EQ(session->on_bytes(as_bytes(text), now), text.size());
    }
  }
  EXPECT_TRUE(session->finished());
  EXPECT_EQ(sent, kMessages * kPayload);
  EXPECT_LE(most, kMostAhead);
  EXPECT_EQ(run.recorder().counts().verified, kMessages);
}

// A server that takes all and answers nothing has all of them outstanding.
TEST(Depth, TheDepthIsReachedWhateverTheSizeOfRequests) {
  constexpr std::size_t kPayload = 64 << 10, kDepth = 50;
  LoadRun run({.depth = kDepth});
  const auto client = builtin_protocols().front().make_client({.payload = kPayload}, run);
  const auto session = client->open({});
  session->on_open(Time(seconds(1)));
  std::size_t sent = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const Time now = Time(seconds(1)) + milliseconds(turn);
    if (const auto due = session->deadline(); due && *due <= now) session->on_deadline(now);
    std::array<Segment, 64> segments;
    std::size_t taken = 0;
    for (const Segment& segment : std::span(segments.data(), session->output(segments)))
      taken += segment.bytes.size();
    session->consumed(taken);
    session->released(taken);
    sent += taken;
  }
  EXPECT_EQ(sent, kDepth * kPayload);
  ASSERT_TRUE(session->deadline());
  EXPECT_GT(*session->deadline(), Time(seconds(2))) << "nothing is due before the request timeout";
}

}  // namespace
}  // namespace joust
