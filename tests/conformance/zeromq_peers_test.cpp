// SPDX-License-Identifier: MIT
//
// Servers on ZeroMQ and peers that are none, or none of joust's: whoever joins is served all the same.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <deque>
#include <thread>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "conformance/message_peer.hpp"
#include "conformance/resources.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "conformance/zeromq_server.hpp"
#include "conformance/zmtp.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class ZeroMqPeers : public EngineTest {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ZeroMqPeers);  // in a build without ZeroMQ
INSTANTIATE_TEST_SUITE_P(Engines, ZeroMqPeers, testing::ValuesIn(variants_over_streams(Role::serve)),
                         [](const auto& tested) { return tested.param.name; });

// ZMTP 1 would take the first letter for the length of an identity, and this is long enough for it.
constexpr std::string_view kBrowser =
    "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0\r\nAccept: text/html, and all else\r\n\r\n";

// A TCP connection that says what it is told.
struct RawPeer {
  explicit RawPeer(const Endpoint& to) : socket(stream_socket(to.family(), 0)) {
    checked(::connect(socket.get(), to.raw(), to.size), "connect()");
  }
  void say(std::string_view bytes) { ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // Says it only if there is room, and may say the beginning alone.
  void offer(std::string_view bytes) const {
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  // True if the server ends the connection within kPatience.
  bool is_cut_off() {
    for (const Time until = Clock::now() + kPatience; Clock::now() < until;) {
      pollfd input{.fd = socket.get(), .events = POLLIN, .revents = 0};
      if (::poll(&input, 1, 100) != 1) continue;
      std::array<char, 4096> buffer;
      if (::recv(socket.get(), buffer.data(), buffer.size(), 0) <= 0) return true;
    }
    return false;
  }

  Fd socket;
};

bool is_cut_off(ZmtpClient& client) {
  try {
    for (const Time until = Clock::now() + kPatience; Clock::now() < until;) client.next(milliseconds(100));
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

TEST_P(ZeroMqPeers, RubbishHarmsNobody) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer before(server.endpoint());
  before.join();
  std::vector<RawPeer> rude;
  std::string noise;
  for (int i = 0; i < 5'000; ++i) noise += static_cast<char>(i * 7919 >> 3);
  for (const std::string& words :
       {std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::string("\0", 1), noise, "\xff" + noise,
        zmtp_greeting() + noise, zmtp_greeting().substr(0, 11),
        zmtp_greeting() + zmtp_ready("DEALER") + noise, std::string()}) {
    rude.emplace_back(server.endpoint()).say(words);
    RawPeer(server.endpoint()).say(words);  // and has gone
  }
  expect_service(server);
  before.send("12345678 unharmed");
  EXPECT_EQ(before.receive(), "12345678 unharmed");
  EXPECT_EQ(server.tally().opened, 2U);
}

TEST_P(ZeroMqPeers, AHandshakeThatDoesNotEndIsEnded) {
  Limits limits = brisk();
  limits.connect = milliseconds(100);
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  RawPeer silent(server.endpoint()), half(server.endpoint()), late(server.endpoint());
  half.say(zmtp_greeting().substr(0, 20));
  late.say(zmtp_greeting());
  EXPECT_TRUE(silent.is_cut_off());
  EXPECT_TRUE(half.is_cut_off());
  EXPECT_TRUE(late.is_cut_off());
  expect_service(server);
}

// Each would keep a descriptor and a pipe for as long as its TCP connection stands.
TEST_P(ZeroMqPeers, SilentAndDeafPeersAreCutOff) {
  Limits limits = brisk();
  limits.idle = milliseconds(200);
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  RawPeer silent(server.endpoint());
  silent.say(zmtp_greeting() + zmtp_ready("DEALER"));
  MessagePeer deaf(server.endpoint());
  deaf.join();
  const std::string large = pattern(60'000);
  const auto speaks_all_the_same = [&] {
    for (int i = 0; i < 3'000 && server.tally().failures() == 0; ++i) deaf.send(large);
    for (const Time until = Clock::now() + kPatience; Clock::now() < until; deaf.send("12345678"))
      std::this_thread::sleep_for(std::chrono::seconds(1));
  };
  EXPECT_THROW(speaks_all_the_same(), std::system_error) << "it is never cut off";
  EXPECT_TRUE(silent.is_cut_off());
  expect_service(server);
}

TEST_P(ZeroMqPeers, AMessageThatIsTooLongEndsItsConnection) {
  EchoService echo;
  Server server(GetParam(), echo);
  ZmtpClient huge(server.endpoint()), one_more(server.endpoint());
  huge.write("\x02\x7f" + std::string(7, '\xff'));
  one_more.write(zmtp_frame(std::string(kLargestDatagram + 1, 'x')));
  EXPECT_TRUE(is_cut_off(huge));
  EXPECT_TRUE(is_cut_off(one_more));
  expect_service(server);
}

TEST_P(ZeroMqPeers, OthersThatSpeakZeroMqAreForeign) {
  EchoService echo;
  Server server(GetParam(), echo);
  ZmtpClient several(server.endpoint()), asking(server.endpoint(), {}, "REQ");
  several.write(zmtp_frame("one", true) + zmtp_frame("two", true) + zmtp_frame("three"));
  several.write(zmtp_frame("", true) + zmtp_frame(std::string(100, 'x')));
  asking.write(zmtp_frame("", true) + zmtp_frame("hello"));
  several.write(zmtp_frame(std::string(100, 'x')));  // of one part, but no datagram
  EXPECT_FALSE(several.next(milliseconds(50)));
  EXPECT_FALSE(asking.next(milliseconds(1)));
  expect_service(server);
  server.stop();
  EXPECT_EQ(server.tally().datagrams().foreign, 4U);
  EXPECT_EQ(server.tally().opened, 1U);
}

TEST_P(ZeroMqPeers, ABrowserIsCutOff) {
  Limits limits = brisk();
  limits.connect = 2 * kPatience;  // it does not count as a handshake that may go on
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  RawPeer browser(server.endpoint());
  browser.say(kBrowser);
  EXPECT_TRUE(browser.is_cut_off());
  expect_service(server);
}

TEST_P(ZeroMqPeers, AServerThatBrowsersScanStops) {
  for (int round = 0; round < 5; ++round) {
    EchoService echo;
    Server server(GetParam(), echo);
    std::atomic<bool> over = false;
    std::jthread scanner([&over, to = server.endpoint()] {
      for (std::deque<RawPeer> scans; !over; scans.size() > 20 ? scans.pop_front() : void()) try {
          scans.emplace_back(to).say(kBrowser);
        } catch (const std::system_error&) {
          std::this_thread::sleep_for(milliseconds(1));  // the server has stopped
        }
    });
    std::this_thread::sleep_for(milliseconds(100));
    server.run().stop().request();
    EXPECT_TRUE(server.run().over_within(kPatience));
    over = true;
  }
}

TEST_P(ZeroMqPeers, AnIdentityThatIsTakenGivesNobodyTheSession) {
  EchoService echo;
  Server server(GetParam(), echo);
  ZmtpClient first(server.endpoint(), "the same");
  const auto say = [](ZmtpClient& client, const DatagramHead& head) {
    DatagramOut out;
    write_signal(head, out);
    client.send(out.front(), nullptr);
  };
  const auto hear = [](ZmtpClient& client, Duration within) -> std::optional<DatagramHead> {
    const auto message = client.next(within);
    if (!message) return std::nullopt;
    const auto datagram = parse_datagram(message->bytes);
    return datagram ? std::optional(datagram->head) : std::nullopt;
  };
  say(first, {.kind = DatagramKind::join, .token = 5});
  const auto challenge = hear(first, kPatience);
  ASSERT_TRUE(challenge);
  say(first, {.kind = DatagramKind::join, .token = 5, .number = challenge->number});
  ASSERT_EQ(hear(first, kPatience)->kind, DatagramKind::joined);
  {
    ZmtpClient second(server.endpoint(), "the same");
    say(second, {.kind = DatagramKind::leave, .token = 6, .number = 0});
    const auto answer = hear(second, milliseconds(50));
    EXPECT_TRUE(!answer || answer->unknown);
  }
  expect_service(server);
  EXPECT_EQ(server.tally().opened, 2U);
}

// The ROUTER must not keep what it does not read.
TEST_P(ZeroMqPeers, PeersOfOneIdentityTakeNoMemory) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer keeps memory";
  Limits limits = brisk();
  limits.idle = milliseconds(200);
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  expect_service(server);
  const std::size_t before = resident_bytes();
  const std::string large = zmtp_frame(pattern(60'000));
  {
    std::vector<RawPeer> same;
    for (int i = 0; i < 20; ++i) {
      same.emplace_back(server.endpoint()).say(zmtp_greeting() + zmtp_ready("DEALER", "the same"));
      std::this_thread::sleep_for(milliseconds(5));
    }
    for (int i = 0; i < 60; ++i, std::this_thread::sleep_for(milliseconds(5)))
      for (const RawPeer& peer : same) peer.offer(large);
    for (RawPeer& peer : same) EXPECT_TRUE(&peer == &same.back() || peer.is_cut_off());
  }
  expect_service(server);
  EXPECT_LT(resident_bytes(), before + (24 << 20));
}

// Some of several threads have ended by then: what comes for them must not keep the others' messages back.
TEST_P(ZeroMqPeers, WhoComesDuringAStopDelaysNobody) {
  Limits limits = brisk();
  limits.linger = limits.drain = kPatience;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer peer(server.endpoint());
  peer.join();
  server.run().stop().request();
  peer.await(DatagramKind::leave);
  std::this_thread::sleep_for(milliseconds(150));
  std::deque<MessagePeer> late;
  for (int i = 0; i < 3; ++i)
    late.emplace_back(server.endpoint()).send({.kind = DatagramKind::join, .token = 1});
  std::this_thread::sleep_for(milliseconds(20));
  peer.send({.kind = DatagramKind::left, .token = peer.token()});
  EXPECT_TRUE(server.run().over_within(kPatience / 4));
  EXPECT_EQ(server.tally().opened, 1U);
}

TEST_P(ZeroMqPeers, ServesPathsToo) {
  EchoService echo;
  Server server(GetParam(), echo, {.address = unix_address()});
  expect_service(server);
}

}  // namespace
}  // namespace joust::conformance
