// SPDX-License-Identifier: MIT
//
// Servers of messages, and system calls that fail.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "failing_calls.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;
using test::Call;
using test::Failing;

class MessageFaults : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (GetParam().engine->transport != Transport::datagram) GTEST_SKIP() << "its library makes the calls";
  }
};
JOUST_EVERY_MESSAGE_ENGINE(MessageFaults, Role::serve);

struct FailingBoth {
  FailingBoth(Call plain, Call batched, int error, std::uint64_t times)
      : one(plain, error, times), many(batched, error, times) {}
  std::uint64_t failed() const { return one.failed() + many.failed(); }
  Failing one, many;
};

std::string echoed(const Endpoint& server) {
  MessagePeer peer(server);
  peer.join();
  for (const Time until = Clock::now() + kPatience; Clock::now() < until;) {
    peer.send("12345678 again");
    if (const auto heard = peer.next(milliseconds(50)); heard && heard->head.kind == DatagramKind::data)
      return heard->payload;
  }
  return "nothing";
}

TEST_P(MessageFaults, AFullSocketIsWaitedFor) {
  EchoService echo;
  Server server(GetParam(), echo);
  // The peer's own calls use send(), which is not among those that fail here.
  for (const int error : {EAGAIN, EINTR}) {
    const FailingBoth failing(Call::sendto, Call::sendmmsg, error, 3);
    MessagePeer peer(server.endpoint());
    EXPECT_EQ(echoed(server.endpoint()), "12345678 again");
    EXPECT_GT(failing.failed(), 0U);
  }
}

TEST_P(MessageFaults, ARefusedDatagramIsCountedAndTheLoopGoesOn) {
  EchoService echo;
  Server server(GetParam(), echo);
  for (const int error : {ENOBUFS, ENOMEM, EMSGSIZE, EPERM, ENETUNREACH, EINVAL}) {
    const FailingBoth failing(Call::sendto, Call::sendmmsg, error, 4);
    EXPECT_EQ(echoed(server.endpoint()), "12345678 again") << error;
    EXPECT_GT(failing.failed(), 0U);
  }
  server.stop();
  EXPECT_GT(server.tally().datagrams().not_sent, 0U);
  EXPECT_GT(server.tally().datagrams().unreachable, 0U);
}

TEST_P(MessageFaults, AReceiveThatFailsEndsNothing) {
  EchoService echo;
  Server server(GetParam(), echo);
  for (const int error : {ECONNREFUSED, EHOSTUNREACH, ENOMEM, ENOBUFS, EINTR, EIO}) {
    const FailingBoth failing(Call::recvfrom, Call::recvmmsg, error, 3);
    EXPECT_EQ(echoed(server.endpoint()), "12345678 again") << error;
    EXPECT_GT(failing.failed(), 0U);
  }
}

}  // namespace
}  // namespace joust::conformance
