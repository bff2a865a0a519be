// SPDX-License-Identifier: MIT
//
// Every engine ends a peer that is too slow for its session, and counts it.
#include <gtest/gtest.h>

#include <thread>

#include "conformance/running.hpp"
#include "session/handler_session.hpp"

namespace joust::conformance {
namespace {

class SlowPeerOn : public EngineTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(SlowPeerOn, Role::serve);

class LongAnswer : public Handler {
 public:
  bool on_message(Bytes, Writer& replies) override {
    replies.send(pattern(16 << 20));
    return true;
  }
};

HandlerService impatient() {
  const RateRule rule{.window = std::chrono::milliseconds(50)};
  const RateRules rates{.incoming = rule, .outgoing = rule};
  return HandlerService(
      Line{}, [] { return std::make_unique<LongAnswer>(); }, rates);
}

TEST_P(SlowPeerOn, IsEndedInTheMiddleOfAMessage) {
  HandlerService service = impatient();
  Server server(GetParam(), service);
  Peer slow(server.endpoint());
  slow.send("a line that does not");
  EXPECT_EQ(slow.receive_to_end(), "");
  server.stop();
  EXPECT_EQ(server.tally().failures(Stage::verify), 1U);
  const std::vector<std::string> expected{"verify: a message comes slower than 1.00 KiB/s for 50.0 ms"};
  EXPECT_EQ(server.tally().complaints(), expected);
}

// The reply is far larger than the socket buffers.
TEST_P(SlowPeerOn, IsEndedWhenItDoesNotReadItsReply) {
  HandlerService service = impatient();
  Server server(GetParam(), service, {.socket = {.send_buffer = 16 << 10}});
  Peer deaf(server.endpoint(), 16 << 10);
  deaf.send("line\n");
  const Time give_up = Clock::now() + kPatience;
  while (server.tally().failures() == 0 && Clock::now() < give_up) std::this_thread::yield();
  server.stop();  // a failure is counted before it is described
  EXPECT_EQ(server.tally().failures(Stage::verify), 1U);
  const std::vector<std::string> expected{"verify: a reply is read slower than 1.00 KiB/s for 50.0 ms"};
  EXPECT_EQ(server.tally().complaints(), expected);
}

}  // namespace
}  // namespace joust::conformance
