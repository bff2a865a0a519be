// SPDX-License-Identifier: MIT
//
// What only a connection with a reader and a writer has to promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "engines/running.hpp"
#include "failing_calls.hpp"

namespace joust::test {
namespace {

constexpr std::size_t kMuch = 16 << 20;  // more than the sockets hold

// Sends much from the beginning, and counts what it hears.
class TalkativeSession : public Session {
 public:
  explicit TalkativeSession(std::atomic<std::size_t>& heard) : heard_(heard) {}
  std::size_t on_bytes(Bytes chunk, Time) override {
    heard_ += chunk.size();
    return chunk.size();
  }
  void on_peer_finished(Time) override { finished_ = true; }
  void on_drain(Time) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override {
    if (sent_ == text_.size()) return 0;
    into.front() = {as_bytes(text_).subspan(sent_)};
    return 1;
  }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { sent_ += n; }
  void released(std::size_t) override {}

 private:
  std::atomic<std::size_t>& heard_;
  const std::string text_ = pattern(kMuch, 1);
  std::size_t sent_ = 0;
  bool finished_ = false;
};

class TalkativeService : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo&) override {
    return std::make_unique<TalkativeSession>(heard);
  }
  std::atomic<std::size_t> heard{0};
};

// A reader that waited for the send would be let in once in each time limit of sends.
TEST(TwoThreads, ReadsOnWhileItsSendBlocks) {
  constexpr Duration kSendAtMost = std::chrono::milliseconds(100);
  TalkativeService service;
  RunningServer server(*find_engine("two-threads"), service);
  const Fd peer = connect_to(server.address());
  receive(peer, 1);  // so the send has begun; the peer reads no more
  Duration fastest = Duration::max();
  for (std::size_t bytes = 1; bytes <= 20; ++bytes) {
    const Time said = Clock::now();
    send_all(peer, "x");
    while (service.heard < bytes) std::this_thread::yield();
    if (bytes > 1) fastest = std::min<Duration>(fastest, Clock::now() - said);
  }
  EXPECT_LT(fastest, kSendAtMost / 2);
  EXPECT_TRUE(receive(peer, kMuch - 1) == pattern(kMuch, 1).substr(1));
}

// Of the two threads of a newcomer only one can be made.
TEST(TwoThreads, APeerWaitsInTheQueueForItsSecondThread) {
  HandlerService service = echo_service();
  RunningServer server(*find_engine("two-threads"), service);
  const std::size_t live = live_threads();
  const Failing none(Call::pthread_create, EAGAIN, 3, 1);
  const Fd peer = connect_to(server.address());
  send_all(peer, "x");
  EXPECT_EQ(receive(peer, 1), "x");
  EXPECT_EQ(none.failed(), 3U);
  EXPECT_EQ(server.tally.opened, 1U);
  while (live_threads() > live + 4) std::this_thread::yield();  // two for the peer, two for the next one
}

}  // namespace
}  // namespace joust::test
