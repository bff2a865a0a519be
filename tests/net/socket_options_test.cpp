// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <system_error>

#include "base/check.hpp"
#include "net/endpoints.hpp"
#include "net/listener.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

using test::socket_in;

Fd tcp_socket() {
  return Fd(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
}

TEST(SocketOptionsTest, WhatIsSetIsReadBack) {
  const Fd socket = tcp_socket();
  apply({.nodelay = true, .send_buffer = 40'000, .receive_buffer = 50'000, .congestion = "reno"},
        socket.get());
  const SocketFacts facts = read_back(socket.get());
  EXPECT_EQ(facts.nodelay, true);
  EXPECT_EQ(facts.send_buffer, 80'000);
  EXPECT_EQ(facts.receive_buffer, 100'000);
  EXPECT_EQ(facts.congestion, "reno");
  EXPECT_EQ(facts.backlog, std::nullopt) << "only listeners have one";
}

TEST(SocketOptionsTest, DelayCanBeAskedFor) {
  const Fd socket = tcp_socket();
  apply({.nodelay = false}, socket.get());
  EXPECT_EQ(read_back(socket.get()).nodelay, false);
}

TEST(SocketOptionsTest, BuffersAreLeftToTheKernelUnlessAskedFor) {
  const Fd untouched = tcp_socket();
  const Fd socket = tcp_socket();
  apply({}, socket.get());
  EXPECT_EQ(read_back(socket.get()).send_buffer, read_back(untouched.get()).send_buffer);
  EXPECT_EQ(read_back(socket.get()).receive_buffer, read_back(untouched.get()).receive_buffer);
}

// The results tell what was really used.
TEST(SocketOptionsTest, CongestionControlThatIsNotThereIsLeftAtTheDefault) {
  const Fd untouched = tcp_socket();
  const Fd socket = tcp_socket();
  apply({.congestion = "no-such-thing"}, socket.get());
  EXPECT_EQ(read_back(socket.get()).congestion, read_back(untouched.get()).congestion);
}

TEST(SocketOptionsTest, CongestionControlThatIsNotThereIsKnown) {
  const std::string reason = congestion_refused("no-such-thing", AF_INET);
  EXPECT_NE(reason.find("reno"), std::string::npos) << "every kernel offers that: " << reason;
  EXPECT_EQ(congestion_refused("reno", AF_INET), "");
  EXPECT_EQ(congestion_refused("", AF_INET), "") << "the machine's default";
}

TEST(SocketOptionsTest, UnixSocketsHaveBuffersOnly) {
  const Fd socket(checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  apply({.send_buffer = 40'000}, socket.get());
  const SocketFacts facts = read_back(socket.get());
  EXPECT_EQ(facts.send_buffer, 80'000);
  EXPECT_EQ(facts.nodelay, std::nullopt);
  EXPECT_EQ(facts.congestion, std::nullopt);
}

TEST(SocketOptionsTest, ConnectionsInheritFromTheirListener) {
  const Listener listener(
      resolve("127.0.0.1:0").value().front(),
      {.send_buffer = 40'000, .receive_buffer = 50'000, .congestion = "reno", .backlog = 17});
  EXPECT_EQ(listener.facts().backlog, 17);
  const Target target("t", resolve(listener.address()).value(), {.nodelay = true, .congestion = "reno"});
  const Fd peer = target.make_socket(0, 0);
  checked(::connect(peer.get(), target.endpoint(0).raw(), target.endpoint(0).size), "connect()");
  const Accepted accepted = listener.accept(0);
  ASSERT_EQ(accepted.outcome, AcceptOutcome::accepted);
  const SocketFacts facts = listener.facts();
  EXPECT_EQ(facts.nodelay, true);
  EXPECT_EQ(facts.send_buffer, 80'000);
  EXPECT_EQ(facts.receive_buffer, 100'000);
  EXPECT_EQ(facts.congestion, "reno");
  EXPECT_EQ(facts.backlog, 17);
  target.note_facts(peer.get());
  EXPECT_EQ(target.facts().nodelay, true);
  EXPECT_EQ(target.facts().congestion, "reno");
}

// The kernel grants no more than net.core.somaxconn, and that is what the results say.
TEST(SocketOptionsTest, BacklogIsWhatWasGranted) {
  int most = 0;
  std::ifstream("/proc/sys/net/core/somaxconn") >> most;
  ASSERT_GT(most, 0);
  const Listener listener(resolve("127.0.0.1:0").value().front(), {.backlog = most + 1000});
  EXPECT_EQ(listener.facts().backlog, most);
}

TEST(TargetTest, SocketsAreWhatWasAskedFor) {
  const test::TemporaryFolder folder;
  const Target target("t", {resolve("127.0.0.1:9").value().front(), socket_in(folder, "s")},
                      {.send_buffer = 40'000});
  EXPECT_EQ(target.endpoints(), 2U);
  EXPECT_EQ(read_back(target.make_socket(0, SOCK_NONBLOCK).get()).nodelay, true);
  EXPECT_EQ(read_back(target.make_socket(1, 0).get()).nodelay, std::nullopt);
  EXPECT_EQ(read_back(target.make_socket(1, 0).get()).send_buffer, 80'000);
}

TEST(TargetTest, FailureNamesTheEndpointThatWasTried) {
  const Target target("t", {resolve("127.0.0.1:9").value().front(), resolve("[::1]:10").value().front()}, {});
  const Failure failure = target.connect_failure(1, ECONNREFUSED);
  EXPECT_EQ(failure.stage, Stage::connect);
  EXPECT_EQ(failure.error, ECONNREFUSED);
  EXPECT_EQ(failure.detail, "[::1]:10");
}

}  // namespace
}  // namespace joust
