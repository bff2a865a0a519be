// SPDX-License-Identifier: MIT
//
// The call in which an engine waits fails: peers are not affected, and the engine does not spin.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "conformance/idleness.hpp"
#include "conformance/scripted.hpp"
#include "failing_calls.hpp"

namespace joust::conformance {
namespace {

class WaitErrors : public SleepingTest {};
JOUST_EVERY_ENGINE(WaitErrors, Role::serve);

// Makes the engine's waiting calls fail.
class FailingWaits {
 public:
  explicit FailingWaits(int error, std::uint64_t times = test::Failing::kAlways)
      : calls_{{{test::Call::ppoll, error, times},
                {test::Call::select, error, times},
                {test::Call::kevent, error, times},
                {test::Call::epoll_wait, error, times},
                {test::Call::epoll_pwait2, error, times}}} {}
  std::uint64_t failed() const {
    std::uint64_t sum = 0;
    for (const test::Failing& call : calls_) sum += call.failed();
    return sum;
  }

 private:
  std::array<test::Failing, 5> calls_;
};

void expect_served(Peer& peer) {
  peer.send("e");
  EXPECT_EQ(peer.receive(1), "e");
}

// For errors that stay.
class LastingWaitErrors : public WaitErrors {
 public:
  static bool applies(const Variant& variant) {
    return WaitErrors::applies(variant) && variant.engine->wait_errors_ignored.empty() &&
           variant.engine->wait_errors_abort.empty();
  }
};
JOUST_EVERY_ENGINE(LastingWaitErrors, Role::serve);

constexpr const char* kNotThese = "it waits in a call that cannot be made to fail here";

TEST_P(WaitErrors, SignalsAndShortagesPass) {
  checks(Duty::wait_errors);
  for (const int error : {EINTR, ENOMEM}) {
    if (const auto reason = GetParam().engine->wait_errors_abort; error != EINTR && !reason.empty())
      GTEST_SKIP() << reason;
    ScriptedService service;
    Server server(GetParam(), service);
    Peer peer = service.join(server);
    const FailingWaits waits(error, 5);
    for (int i = 0; i < 8; ++i) expect_served(peer);
    if (waits.failed() == 0) GTEST_SKIP() << kNotThese;
    server.stop();
    EXPECT_EQ(server.tally().failures(), 0U);
  }
}

// The peer's message wakes the engine from its current wait, if any; all later waits fail. So the reply may
// arrive only when waits work again.
TEST_P(LastingWaitErrors, AShortageThatLastsBurnsNoCore) {
  checks(Duty::wait_errors);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer peer = service.join(server);
  {
    const FailingWaits waits(ENOMEM);
    peer.send("e");
    const double share = cpu_share_beside_a_spinner();
    if (waits.failed() == 0) GTEST_SKIP() << kNotThese;
    EXPECT_LT(share, kIdle);
  }
  EXPECT_EQ(peer.receive(1), "e");
  expect_served(peer);
}

TEST_P(LastingWaitErrors, AnErrorThatNothingCanMendEndsTheRunOrBurnsNoCore) {
  checks(Duty::wait_errors);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer peer = service.join(server);
  const FailingWaits waits(EINVAL);
  peer.send("e");
  const double share = cpu_share_beside_a_spinner();
  if (waits.failed() == 0) GTEST_SKIP() << kNotThese;
  if (server.run().over_within(std::chrono::milliseconds(10)))
    EXPECT_THROW(server.run().wait(), std::system_error);
  else
    EXPECT_LT(share, kIdle);
}

}  // namespace
}  // namespace joust::conformance
