// SPDX-License-Identifier: MIT
//
// Many peers at once, more peers than the limit allows, and a process without free descriptors.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <algorithm>
#include <deque>

#include <future>

#include "base/check.hpp"
#include "conformance/idleness.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class Crowd : public EngineTest {};
JOUST_EVERY_ENGINE(Crowd, Role::serve);

void expect_echo(Peer& peer, std::string_view bytes) {
  peer.send(bytes);
  EXPECT_EQ(peer.receive(bytes.size()), bytes);
}

// A Peer for a connect started by begin_connect.
Peer await_connect(Fd socket) {
  pollfd connected{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&connected, 1, static_cast<int>(kPatience / std::chrono::milliseconds(1))) != 1)
    throw std::runtime_error("the connect does not come to an end");
  checked(::fcntl(socket.get(), F_SETFL, 0), "fcntl(F_SETFL)");
  return Peer(std::move(socket));
}

Fd stream_socket(const Endpoint& to) {
  return Fd(checked(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()"));
}

// The trap: one event for many peers in the accept queue, and no later event for those left there.
TEST_P(Crowd, TwoHundredAtOnceWithoutALaterConnect) {
  for (const std::string& address : {std::string("127.0.0.1:0"), unix_address()}) {
    EchoService echo;
    Server server(GetParam(), echo, {.address = address});
    std::vector<Fd> connects;
    const int crowd = forks_slowly(GetParam()) ? 30 : 200;
    for (int i = 0; i < crowd; ++i) connects.push_back(begin_connect(server.endpoint()));
    std::vector<Peer> peers;
    for (Fd& socket : connects) peers.push_back(await_connect(std::move(socket)));
    for (std::size_t i = 0; i < peers.size(); ++i) peers[i].send(pattern(20, static_cast<unsigned>(i)));
    for (std::size_t i = 0; i < peers.size(); ++i)
      EXPECT_EQ(peers[i].receive(20), pattern(20, static_cast<unsigned>(i)));
  }
}

TEST_P(Crowd, StormOfPeersThatConnectAndLeave) {
  constexpr int kThreads = 4;
  const bool forks = GetParam().engine->separate_processes;  // which takes milliseconds
  const int each = forks_slowly(GetParam()) ? 15 : forks ? 125 : 1250;
  EchoService echo;
  Server server(GetParam(), echo);
  Peer bystander(server.endpoint());
  std::vector<std::future<void>> storm;
  for (int thread = 0; thread < kThreads; ++thread)
    storm.push_back(std::async(std::launch::async, [&] {
      for (int i = 0; i < each; ++i) {
        Peer peer(server.endpoint());
        if (i % 10 == 0) expect_echo(peer, "hello");
        if (i % 5 == 1) peer.send("bye");
        if (i % 3 != 0) peer.reset();
      }
    }));
  for (auto& part : storm) part.get();
  expect_echo(bystander, "untouched");
}

TEST_P(Crowd, FifthWaitsWhereFourAreAllowed) {
  checks(Duty::shortage);
  Limits limits = brisk();
  limits.connections = 4;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  std::vector<Peer> four;
  for (int i = 0; i < 4; ++i) {
    four.emplace_back(server.endpoint());
    expect_echo(four.back(), "one of four");
  }
  Peer fifth(server.endpoint());
  fifth.send("and me");
  EXPECT_FALSE(fifth.hears_within(std::chrono::milliseconds(60)));
  for (Peer& peer : four) expect_echo(peer, "still here");
  four.pop_back();
  EXPECT_EQ(fifth.receive(6), "and me");
  Peer sixth(server.endpoint());
  sixth.send("me as well");
  four.clear();
  EXPECT_EQ(sixth.receive(10), "me as well");
}

// A pause would let peers that come and go, one for each place, keep all others out.
TEST_P(Crowd, APlaceIsTakenWithoutAPause) {
  checks(Duty::shortage);
  Limits limits = brisk();
  limits.connections = 2;
  limits.accept_pause = std::chrono::hours(1);
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  std::deque<Peer> queue;
  for (int i = 0; i < 8; ++i) queue.emplace_back(server.endpoint()).send("my turn");
  for (; !queue.empty(); queue.pop_front()) EXPECT_EQ(queue.front().receive(7), "my turn");
}

TEST_P(Crowd, OutOfDescriptorsServesOnAndRecovers) {
  checks(Duty::shortage);
  EchoService echo;
  Server server(GetParam(), echo);
  std::deque<Peer> each;  // one for each loop, so that all loops have started
  for (unsigned i = 0; i < loops_of(GetParam()); ++i)
    expect_echo(each.emplace_back(server.endpoint()), "before");
  Peer& early = each.front();
  std::vector<Fd> connects;
  for (int i = 0; i < 20; ++i) connects.push_back(stream_socket(server.endpoint()));
  FewDescriptors few;
  few.take_all();
  for (const Fd& socket : connects) ::connect(socket.get(), server.endpoint().raw(), server.endpoint().size);
  if (sleeps(GetParam()) && GetParam().engine->spins_at_shortage.empty()) {
    EXPECT_LT(cpu_share_beside_a_spinner(), kIdle) << "spins while it can accept nobody";
  }
  expect_echo(early, "meanwhile");
  few.free_all();
  for (Fd& socket : connects) {
    Peer late = await_connect(std::move(socket));
    expect_echo(late, "after");
  }
  expect_echo(early, "to the end");
}

}  // namespace
}  // namespace joust::conformance
