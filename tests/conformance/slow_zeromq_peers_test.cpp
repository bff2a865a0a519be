// SPDX-License-Identifier: MIT
//
// Servers on ZeroMQ and peers that read late or never.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "conformance/services.hpp"
#include "conformance/zeromq_server.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class SlowZeroMqPeers : public EngineTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SlowZeroMqPeers);  // in a build without ZeroMQ
INSTANTIATE_TEST_SUITE_P(Engines, SlowZeroMqPeers, testing::ValuesIn(variants_over_streams(Role::serve)),
                         [](const auto& tested) { return tested.param.name; });

// Its sessions have many messages for their peers from the beginning.
class PouringService : public Service {
 public:
  static constexpr std::size_t kSize = 8'000;
  explicit PouringService(std::size_t messages) : messages_(messages) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;

 private:
  std::size_t messages_;
};

class Pouring : public Session {
 public:
  explicit Pouring(std::size_t messages) : left_(messages) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override {
    const std::size_t count = std::min(into.size(), left_);
    for (Segment& segment : into.first(count)) segment.bytes = as_bytes(kMessage);
    return count;
  }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { left_ -= n / kMessage.size(); }
  void released(std::size_t /*n*/) override {}

 private:
  static const std::string kMessage;
  std::size_t left_;
  bool finished_ = false;
};
const std::string Pouring::kMessage(PouringService::kSize, 'x');

std::unique_ptr<Session> PouringService::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<Pouring>(messages_);
}

// Neither more than is held for it, nor in anybody's way.
TEST_P(SlowZeroMqPeers, APeerThatDoesNotReadDelaysNobody) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer deaf(server.endpoint());
  deaf.join();
  std::atomic<bool> over{false};
  std::jthread flood([&] {
    try {
      const std::string large = pattern(60'000);
      for (int i = 0; i < 3'000 && !over; ++i) deaf.send(large);
    } catch (const std::exception&) {
      // Its connection has been closed.
    }
  });
  for (int i = 0; i < 20; ++i) expect_service(server);
  over = true;
  deaf.shut();
  flood.join();
  expect_service(server);
  server.stop();
}

// Its pipe is full: it is told behind what that holds.
TEST_P(SlowZeroMqPeers, APeerThatIsEvictedAndReadsOnIsTold) {
  Limits limits = brisk();
  limits.linger = kPatience;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer late(server.endpoint());
  late.join();
  const std::string large = pattern(60'000);
  const auto is_evicted = [&] { return server.tally().failures() > 0; };
  for (int i = 0; i < 3'000 && !is_evicted(); ++i) late.send(large);
  for (const Time begun = Clock::now(); !is_evicted(); std::this_thread::yield())
    ASSERT_LT(Clock::now() - begun, kPatience);
  std::this_thread::sleep_for(milliseconds(100));  // strangers' answers find no room
  EXPECT_TRUE(late.await(DatagramKind::left).head.unknown);
}

// It takes a while, and then all of what waits for it.
TEST_P(SlowZeroMqPeers, APeerThatCatchesUpGetsEverything) {
  constexpr std::size_t kMessages = 6'000;
  PouringService pouring(kMessages);
  Server server(GetParam(), pouring);
  MessagePeer late(server.endpoint());
  late.join();
  std::this_thread::sleep_for(milliseconds(200));  // until its pipe is full
  for (std::size_t i = 0; i < kMessages; ++i) {
    const auto heard = late.await(DatagramKind::data);
    ASSERT_EQ(heard.head.number, i);
    ASSERT_EQ(heard.payload.size(), PouringService::kSize);
  }
  EXPECT_EQ(server.tally().failures(), 0U);
}

}  // namespace
}  // namespace joust::conformance
