// SPDX-License-Identifier: MIT
//
// However a connection ends, earlier requests are answered, and other connections are not affected.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <algorithm>
#include <deque>

#include <future>
#include <thread>

#include "conformance/running.hpp"
#include "conformance/scripted.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class Ending : public EngineTest {};
JOUST_EVERY_ENGINE(Ending, Role::serve);

void expect_served(const Server& server) {
  Peer peer(server.endpoint());
  peer.send("still there?\n");
  EXPECT_EQ(peer.receive(13), "still there?\n");
}

// Peers whose last bytes come together with the end of their streams get them back.
void expect_echo_of_last(const std::string& bytes, const Server& server) {
  for (int i = 0; i < 20; ++i) {
    Peer peer(server.endpoint());
    // MSG_MORE delays the bytes, so that they share a packet with the FIN.
    ASSERT_EQ(::send(peer.fd(), bytes.data(), bytes.size(), MSG_MORE), static_cast<ssize_t>(bytes.size()));
    peer.finish();
    EXPECT_EQ(peer.receive_to_end(), bytes);
  }
}

TEST_P(Ending, LastBytesTogetherWithTheEnd) {
  checks(Duty::order);
  for (const std::string& address : {std::string("127.0.0.1:0"), unix_address()}) {
    EchoService echo(Line{});
    Server server(GetParam(), echo, {.address = address});
    expect_echo_of_last("last words\n", server);
  }
}

// An engine on a library that reads ahead must not lose the end behind the bytes that it has read ahead.
TEST_P(Ending, LastBytesAreMoreThanOneRead) {
  checks(Duty::order);
  EchoService echo;
  Limits limits = brisk();
  limits.read_bytes = 8;
  Server server(GetParam(), echo, {.limits = limits});
  expect_echo_of_last("last words", server);
}

// The peer has closed its unix socket and cannot get a reply; its last bytes must be read all the same.
TEST_P(Ending, LastBytesOfAPeerThatHasClosed) {
  checks(Duty::order);
  constexpr std::size_t kBytes = 50'000;
  ScriptedService service;
  Server server(GetParam(), service, {.address = unix_address()});
  service.join(server).send(std::string(kBytes, '.'));
  service.await(Told::What::finished, 0);
  EXPECT_EQ(service.bytes_of(0), 1 + kBytes);
}

TEST_P(Ending, HalfClosedPeerGetsAllOfItsReply) {
  checks(Duty::order);
  if (const auto reason = GetParam().engine->ends_with_peer; !reason.empty()) GTEST_SKIP() << reason;
  EchoService echo;
  Server server(GetParam(), echo);
  Peer peer(server.endpoint());
  const std::string message = pattern(kMebi);
  const auto sender = std::async(std::launch::async, [&] {
    peer.send(message);
    peer.finish();
  });
  EXPECT_TRUE(peer.receive_to_end() == message);
}

TEST_P(Ending, PeerThatSaysNothingAndFinishes) {
  checks(Duty::order);
  EchoService echo;
  Server server(GetParam(), echo);
  Peer peer(server.endpoint());
  peer.finish();
  EXPECT_EQ(peer.next(), Next::end);
}

TEST_P(Ending, FinishedInMidFrame) {
  EchoService echo(Length4{});
  Server server(GetParam(), echo);
  Peer peer(server.endpoint());
  const std::string frame = framed(Length4{}, "a frame that is cut off");
  peer.send(frame + frame.substr(0, 10));
  peer.finish();
  EXPECT_EQ(peer.receive_to_end(), frame);
}

TEST_P(Ending, ResetInMidFrame) {
  constexpr int kPeers = 20;
  EchoService echo(Line{});
  Server server(GetParam(), echo);
  Peer bystander(server.endpoint());
  for (int i = 0; i < kPeers; ++i) {
    Peer peer(server.endpoint());
    peer.send("whole\n");
    EXPECT_EQ(peer.receive(6), "whole\n");
    peer.send("half a li");
    peer.reset();
  }
  bystander.send("whole\n");
  EXPECT_EQ(bystander.receive(6), "whole\n");
  bystander.close();
  server.stop();
  const bool told_apart = GetParam().engine->resets_are_ends.empty();
  EXPECT_EQ(server.tally().failures(), told_apart ? kPeers : 0);
}

// A reset arrives while replies cannot be sent and nothing is read.
TEST_P(Ending, ResetWithTheReplyQueueFull) {
  EchoService echo(Line{});
  Server server(GetParam(), echo, {.socket = {.send_buffer = 32 << 10, .receive_buffer = 32 << 10}});
  Peer peer(server.endpoint(), 32 << 10);
  peer.send_until_full(framed(Line{}, pattern(50'000)));
  peer.reset();
  expect_served(server);
  server.stop();
  EXPECT_EQ(server.tally().failures(), 1U);
}

// Sending to a peer that has closed must end only that connection, not the process (SIGPIPE).
TEST_P(Ending, PeerThatLeavesWhileRepliesAreOnTheWay) {
  for (const std::string& address : {std::string("127.0.0.1:0"), unix_address()}) {
    EchoService echo(Line{});
    Server server(GetParam(), echo, {.address = address});
    for (int i = 0; i < 10; ++i) {
      Peer peer(server.endpoint());
      peer.send(framed(Line{}, pattern(60'000)));
      peer.send(framed(Line{}, pattern(60'000)));
      peer.receive(1000);
      peer.close();
    }
    expect_served(server);
  }
}

// Closing with unread bytes makes TCP send a reset, and the peer could lose the reply.
TEST_P(Ending, ReplyArrivesThoughThePeerSendsOn) {
  checks(Duty::order);
  OneAnswerService once(Line{});
  Server server(GetParam(), once);
  for (int i = 0; i < 5; ++i) {
    Peer peer(server.endpoint());
    peer.send("question\n" + pattern(300'000));
    EXPECT_EQ(peer.receive_to_end(), "question\n");
    peer.try_send("more");
    EXPECT_EQ(peer.next(), Next::end);
  }
}

// The other connections are served on.
TEST_P(Ending, SocketsOfThoseWhoHaveGoneAreClosed) {
  checks(Duty::nothing_left);
  EchoService echo(Line{});
  Server server(GetParam(), echo);
  std::deque<Peer> each;  // one for each loop, so that all loops have started
  for (unsigned i = 0; i < loops_of(GetParam()); ++i) {
    each.emplace_back(server.endpoint()).send("here\n");
    EXPECT_EQ(each.back().receive(5), "here\n");
  }
  Peer& bystander = each.front();
  const Resources before = Resources::settled();
  for (int i = 0; i < 10; ++i) expect_served(server);
  before.expect_back();
  bystander.send("still here\n");
  EXPECT_EQ(bystander.receive(11), "still here\n");
}

// A peer that does not end after our end of stream is waited for until the linger limit.
TEST_P(Ending, PeerThatNeverEndsIsLeft) {
  checks(Duty::order);
  OneAnswerService once(Line{});
  Server server(GetParam(), once);
  Peer peer(server.endpoint());
  peer.send("question\n");
  EXPECT_EQ(peer.receive_to_end(), "question\n");
  // Bytes sent after the server has closed are answered by a reset.
  for (Time begun = Clock::now(); peer.try_send("x");) ASSERT_LT(Clock::now() - begun, kPatience);
  server.stop();
  EXPECT_EQ(server.tally().failures(), 0U);
}

TEST_P(Ending, HearsAResetWhileNothingIsWanted) {
  checks(Duty::resets);
  if (const auto reason = GetParam().engine->resets_are_ends; !reason.empty()) GTEST_SKIP() << reason;
  if (const auto reason = GetParam().engine->resets_unseen; !reason.empty()) GTEST_SKIP() << reason;
  for (const std::string& unread : {std::string(), std::string("...")}) {
    Limits limits = brisk();
    limits.idle = kPatience * 10;
    ScriptedService service;
    Server server(GetParam(), service, {.limits = limits});
    Peer peer = service.join(server);
    peer.send("n" + unread);
    service.await_bytes(2, 0);
    peer.send(unread);
    peer.reset();
    service.await(Told::What::failure, 0);
    EXPECT_EQ(server.tally().failures(Stage::receive), 1U);
  }
}

// The kernel may report the end of a stream as a hang-up, and that lasts. The end is read or not.
TEST_P(Ending, HearsAResetAfterTheEndOfTheStream) {
  checks(Duty::resets);
  if (const auto reason = GetParam().engine->resets_are_ends; !reason.empty()) GTEST_SKIP() << reason;
  if (const auto reason = GetParam().engine->resets_unseen; !reason.empty()) GTEST_SKIP() << reason;
  for (const std::string script : {"i", "in"}) {
    Limits limits = brisk();
    limits.idle = kPatience * 10;
    ScriptedService service;
    Server server(GetParam(), service, {.limits = limits});
    Peer peer = service.join(server);
    peer.send(script);
    service.await_bytes(script.size(), 0);
    peer.finish();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the engine hears of the end first
    peer.reset();
    service.await(Told::What::failure, 0);
    EXPECT_EQ(server.tally().failures(Stage::receive), 1U);
  }
}

TEST_P(Ending, IdlePeerIsClosed) {
  checks(Duty::deadlines);
  Limits limits = brisk();
  limits.idle = std::chrono::milliseconds(100);
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  Peer silent(server.endpoint());
  Peer spoke_once(server.endpoint());
  spoke_once.send("x");
  EXPECT_EQ(spoke_once.receive(1), "x");
  EXPECT_EQ(silent.next(), Next::end);
  EXPECT_EQ(spoke_once.next(), Next::end);
  server.stop();
  EXPECT_EQ(server.tally().failures(Stage::timeout), 2U);
}

}  // namespace
}  // namespace joust::conformance
