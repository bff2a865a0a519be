// SPDX-License-Identifier: MIT
//
// What blocking sends on one thread cost: a peer that does not read delays the others, for a limited time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "engines/running.hpp"

namespace joust::test {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMost = 16 << 20;              // more than the sockets hold
constexpr Duration kLongestSend = milliseconds(20);  // of the engine,
constexpr Duration kAtLeast = kLongestSend / 2;      // which the kernel counts in ticks

// Answers 'm' by much, and other letters by one byte, from the same text, so that answers take no time.
class LongOrShortSession : public Session {
 public:
  std::size_t on_bytes(Bytes chunk, Time) override {
    for (const std::byte letter : chunk) end_ = sent_ + (letter == std::byte{'m'} ? kMost : 1);
    return chunk.size();
  }
  void on_peer_finished(Time) override { finished_ = true; }
  void on_drain(Time) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override {
    if (sent_ == end_) return 0;
    into.front() = {as_bytes(text()).subspan(sent_ % kMost, std::min(end_ - sent_, kMost - sent_ % kMost))};
    return 1;
  }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { sent_ += n; }
  void released(std::size_t) override {}

  static const std::string& text() {
    static const std::string text = pattern(kMost, 1);
    return text;
  }

 private:
  std::size_t sent_ = 0;
  std::size_t end_ = 0;
  bool finished_ = false;
};

class LongOrShortService : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo&) override {
    return std::make_unique<LongOrShortSession>();
  }
};

// Returns the time until a short answer.
Duration ask(const Fd& peer) {
  const Time asked = Clock::now();
  send_all(peer, "s");
  receive(peer, 1);
  return Clock::now() - asked;
}

class SelectBlocking : public testing::Test {
 protected:
  SelectBlocking() { ask(other); }
  Fd connect() const { return connect_to(server.address()); }

  LongOrShortService service;
  RunningServer server{*find_engine("select-blocking"), service};
  const Fd other = connect();
};

TEST_F(SelectBlocking, ASendBlocksForAllUntilItsTimeLimit) {
  LongOrShortSession::text();
  for (int i = 0; i < 5; ++i) {
    const Fd deaf = connect();
    ask(deaf);
    const Time asked = Clock::now();
    send_all(deaf, "m");
    receive(deaf, 1);  // the send has begun, and blocks
    ask(other);        // waits for it
    EXPECT_GE(Clock::now() - asked, kAtLeast);
  }
}

// The socket of a peer that does not read is not reported, so it takes no further time from the others.
TEST_F(SelectBlocking, ADeafPeerDelaysTheOthersOnce) {
  const Fd deaf = connect();
  send_all(deaf, "m");
  const std::string first = receive(deaf, 1);
  ask(other);
  Duration fastest = Duration::max();
  for (int i = 0; i < 50; ++i) fastest = std::min(fastest, ask(other));
  EXPECT_LT(fastest, kAtLeast);
  EXPECT_TRUE(first + receive(deaf, kMost - 1) == LongOrShortSession::text())
      << "the rest of the reply comes when it is read";
}

// Each of several peers costs the others its own time limit, and no more.
TEST_F(SelectBlocking, ManyDeafPeersDelayTheOthersOnceEach) {
  constexpr int kDeaf = 10;
  std::vector<Fd> deaf;
  for (int i = 0; i < kDeaf; ++i) deaf.push_back(connect());
  LongOrShortSession::text();
  const Time asked = Clock::now();
  for (const Fd& peer : deaf) send_all(peer, "m");
  for (const Fd& peer : deaf) receive(peer, 1);
  ask(other);
  EXPECT_GE(Clock::now() - asked, kDeaf * kAtLeast);
}

}  // namespace
}  // namespace joust::test
