// SPDX-License-Identifier: MIT
//
// However a stream is cut, every byte is answered, once and in order.
#include <gtest/gtest.h>

#include <array>
#include <future>

#include "conformance/running.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class Stream : public EngineTest {};
JOUST_EVERY_ENGINE(Stream, Role::serve);

const std::vector<Framing> kFramings{Raw{}, Length4{}, Line{}};

void expect_echo(Peer& peer, std::string_view bytes) {
  peer.send(bytes);
  EXPECT_EQ(peer.receive(bytes.size()), bytes);
}

void expect_service_at(const Variant& variant, const std::string& address) {
  EchoService echo;
  Server server(variant, echo, {.address = address});
  Peer first(server.endpoint());
  Peer second(server.endpoint());
  expect_echo(first, "to the first");
  expect_echo(second, "to the second");
  expect_echo(first, "again to the first");
}

TEST_P(Stream, ServesIpv4) {
  expect_service_at(GetParam(), "127.0.0.1:0");
}

TEST_P(Stream, ServesIpv6) {
  try {
    expect_service_at(GetParam(), "[::1]:0");
  } catch (const std::system_error& error) {
    if (error.code().value() != EADDRNOTAVAIL && error.code().value() != EAFNOSUPPORT) throw;
    GTEST_SKIP() << "this machine has no IPv6: " << error.what();
  }
}

TEST_P(Stream, ServesUnixSockets) {
  expect_service_at(GetParam(), unix_address());
}

TEST_P(Stream, ServesEveryAddressOfItsName) {
  checks(Duty::every_address);
  EchoService echo;
  const std::array endpoints{endpoint_of("127.0.0.1:0"), endpoint_of("127.0.0.2:0"),
                             endpoint_of("127.0.0.3:0")};
  Server server(GetParam(), echo, {}, endpoints);
  for (const Listener* listener : server.listeners().all()) {
    Peer peer(listener->endpoint());
    expect_echo(peer, listener->address());
  }
}

TEST_P(Stream, OneByteAtATime) {
  for (const Framing& framing : kFramings) {
    EchoService echo(framing);
    Server server(GetParam(), echo);
    Peer peer(server.endpoint());
    const std::string message = framed(framing, pattern(200));
    for (const char& byte : message) peer.send({&byte, 1});
    EXPECT_EQ(peer.receive(message.size()), message);
  }
}

TEST_P(Stream, OneByteAtATimeEachReadAlone) {
  for (const Framing& framing : kFramings) {
    EchoService echo(framing);
    Server server(GetParam(), echo, {.address = unix_address()});
    Peer peer(server.endpoint());
    const std::string messages = framed(framing, "first") + framed(framing, "") + framed(framing, "third");
    for (const char& byte : messages) peer.send_and_see_read({&byte, 1});
    EXPECT_EQ(peer.receive(messages.size()), messages);
  }
}

TEST_P(Stream, EveryCutOfAFrame) {
  for (const Framing& framing : kFramings) {
    EchoService echo(framing);
    Server server(GetParam(), echo, {.address = unix_address()});
    Peer peer(server.endpoint());
    const std::string two = framed(framing, "the first message") + framed(framing, "and another");
    for (std::size_t cut = 1; cut < two.size(); ++cut) {
      peer.send_and_see_read(std::string_view(two).substr(0, cut));
      peer.send_and_see_read(std::string_view(two).substr(cut));
      ASSERT_EQ(peer.receive(two.size()), two) << "cut after " << cut;
    }
  }
}

// The trap of edge-triggered engines: bytes left in the socket cause no further event.
TEST_P(Stream, OneMebibyteThenSilence) {
  checks(Duty::order);
  for (const Framing& framing : {Framing{Raw{}}, Framing{Length4{.largest = kMebi}}}) {
    Limits limits = brisk();
    limits.read_bytes = 16 << 10;
    limits.read_bytes_per_turn = 64 << 10;
    EchoService echo(framing);
    Server server(GetParam(), echo, {.limits = limits});
    Peer peer(server.endpoint());
    const std::string message = framed(framing, pattern(kMebi));
    const auto sender = std::async(std::launch::async, [&] { peer.send(message); });
    EXPECT_TRUE(peer.receive(message.size()) == message);
    EXPECT_FALSE(peer.hears_within(std::chrono::milliseconds(1)));
  }
}

// The session stops the engine from reading while its replies are not read; after they are read, transfer
// continues. Large pieces, because of many small unread ones Linux drops some for lack of memory, and with
// them their window updates; then both ends of TCP wait for each other's timers.
TEST_P(Stream, ReadsOnAfterTheReplyQueueWasFull) {
  checks(Duty::order);
  for (const std::string& address : {std::string("127.0.0.1:0"), unix_address()}) {
    EchoService echo;
    Server server(GetParam(), echo,
                  {.address = address, .socket = {.send_buffer = 32 << 10, .receive_buffer = 32 << 10}});
    Peer peer(server.endpoint(), 32 << 10);
    const std::string bytes = pattern(20'000);
    for (std::size_t left = peer.send_until_full(bytes); left > 0;) {
      const std::size_t part = std::min(left, bytes.size());
      ASSERT_EQ(peer.receive(part), bytes.substr(0, part)) << left << " bytes before the last";
      left -= part;
    }
  }
}

// Small buffers make every send partial, and most reads short.
TEST_P(Stream, SurvivesTinySocketBuffers) {
  EchoService echo(Length4{});
  Server server(GetParam(), echo,
                {.address = unix_address(), .socket = {.send_buffer = 1, .receive_buffer = 1}});
  Peer peer(server.endpoint(), 1);
  const std::string message = framed(Length4{}, pattern(200'000)) + framed(Length4{}, pattern(100'000, 2));
  const auto sender = std::async(std::launch::async, [&] { peer.send(message); });
  EXPECT_TRUE(peer.receive(message.size()) == message);
}

TEST_P(Stream, OversizeFrameEndsTheConnectionOnly) {
  const std::vector<std::pair<Framing, std::string>> cases{
      {Length4{}, std::string(4, '\xff') + "and so on"},
      {Length4{.largest = 10}, framed(Length4{}, pattern(11))},
      {Line{.largest = 10}, pattern(12)},
      {Line{.largest = 10}, pattern(11) + "\n"},
  };
  for (const auto& [framing, bytes] : cases) {
    EchoService echo(framing);
    Server server(GetParam(), echo);
    Peer good(server.endpoint());
    Peer bad(server.endpoint());
    const std::string whole = framed(framing, "0123456789");
    expect_echo(bad, whole);  // of the largest size allowed
    bad.send(bytes);
    EXPECT_EQ(bad.next(), Next::end);
    expect_echo(good, whole);
  }
}

}  // namespace
}  // namespace joust::conformance
