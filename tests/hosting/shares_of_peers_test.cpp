// SPDX-License-Identifier: MIT
//
// One address that takes all connections of a server keeps nobody out, whatever the engine.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "connection/tally.hpp"
#include "engines/running.hpp"
#include "hosting/accounting.hpp"
#include "hosting/can_run.hpp"
#include "hosting/protocols.hpp"
#include "joust/server.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::prefix_protocol;

constexpr std::size_t kPlaces = 24;

bool keeps_account(const Engine& engine) {
  Tally tally;
  return Accounting(engine, 1, {}, tally).account() != nullptr;
}

std::vector<std::string> engines_of_streams() {
  std::vector<std::string> names;
  for (const Engine* engine : engines())
    if (engine->serves && engine->transport == Transport::stream && keeps_account(*engine) &&
        test::can_run(*engine))
      names.emplace_back(engine->name);
  return names;
}

sockaddr_in address_of(const char* address, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &made.sin_addr);
  return made;
}

class SharesOfPeers : public testing::TestWithParam<std::string> {
 protected:
  SharesOfPeers() {
    Limits limits;
    limits.connections = kPlaces;
    // Enough threads that no client waits for one: the shares are what is tested.
    const bool of_clients = !find_engine(GetParam())->clients_wait.empty();
    const unsigned threads = of_clients ? 2 * kPlaces : find_engine(GetParam())->least_threads;
    server_.emplace(prefix_protocol(),
                    ServerOptions{.engine = GetParam(), .threads = threads, .limits = limits});
    server_->start();
  }

  Fd connect(const char* from) const {
    const std::string to = server_->address();
    const auto port = static_cast<std::uint16_t>(std::stoi(to.substr(to.rfind(':') + 1)));
    Fd socket(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
    const timeval patience{.tv_sec = 5, .tv_usec = 0};  // as long as somebody honest may wait
    checked(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), "setsockopt()");
    const sockaddr_in own = address_of(from, 0), other = address_of("127.0.0.1", port);
    checked(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), "bind()");
    checked(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&other), sizeof other), "connect()");
    return socket;
  }
  void take_all_places(const char* from) {
    for (std::size_t i = 0; i < kPlaces; ++i) taken_.push_back(connect(from));
    const Time deadline = Clock::now() + seconds(30);
    while (server_->statistics().connections_opened < kPlaces && Clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(5));
    ASSERT_EQ(server_->statistics().connections_opened, kPlaces);
  }
  static std::string ask(const Fd& peer) {
    std::string reply(8, '\0');
    if (::send(peer.get(), "hello\n", 6, MSG_NOSIGNAL) != 6) return "not sent";
    const ssize_t got = ::recv(peer.get(), reply.data(), reply.size(), MSG_WAITALL);
    reply.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return reply;
  }

  std::optional<Server> server_;
  std::vector<Fd> taken_;
};

TEST_P(SharesOfPeers, AnotherAddressIsServedBesideOneThatHasTakenAll) {
  take_all_places("127.0.0.2");
  const Fd honest = connect("127.0.0.3");
  EXPECT_EQ(ask(honest), "> hello\n");
  const Fd second = connect("127.0.0.4");
  EXPECT_EQ(ask(second), "> hello\n");
  EXPECT_EQ(ask(honest), "> hello\n") << "who has little stays";
  EXPECT_FALSE(server_->statistics().notes.empty());
}

TEST_P(SharesOfPeers, TheSameAddressIsServedBesideItsIdleConnections) {
  take_all_places("127.0.0.2");
  std::this_thread::sleep_for(milliseconds(1'100));
  const Fd honest = connect("127.0.0.2");
  EXPECT_EQ(ask(honest), "> hello\n");
}

// A reset that comes before the accept takes the address with it. All resets together fit the queue of
// accepts: where it is full, a connect waits for a second, in which the connections that work become idle.
TEST_P(SharesOfPeers, ItsConnectionsThatWorkAreNotEndedForThoseWhoHaveGone) {
  take_all_places("127.0.0.2");
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 30; ++i) {
      const Fd brief = connect("127.0.0.2");
      constexpr linger kReset{.l_onoff = 1, .l_linger = 0};
      checked(::setsockopt(brief.get(), SOL_SOCKET, SO_LINGER, &kReset, sizeof kReset), "setsockopt()");
    }
    for (const Fd& each : taken_) ASSERT_EQ(ask(each), "> hello\n");
  }
}

TEST_P(SharesOfPeers, ItsConnectionsThatWorkAreNotEndedForItsOwn) {
  take_all_places("127.0.0.2");
  for (const Fd& each : taken_) EXPECT_EQ(ask(each), "> hello\n");
  const Fd beyond = connect("127.0.0.2");
  ask(beyond);
  for (const Fd& each : taken_) EXPECT_EQ(ask(each), "> hello\n");
}

INSTANTIATE_TEST_SUITE_P(Engines, SharesOfPeers, testing::ValuesIn(engines_of_streams()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

class CountedPlace final : public Shares::Holder {
 public:
  CountedPlace(Shares& shares, PeerAddress address, std::uint64_t bytes) : Holder(address), shares_(shares) {
    EXPECT_TRUE(shares_.take(*this, Clock::now()));
    uses_memory(bytes);
  }
  ~CountedPlace() override { shares_.free(*this); }
  bool asked = false;

 private:
  void give_way() noexcept override { asked = true; }
  Shares& shares_;
};

class WatchTest : public testing::Test {
 protected:
  void take(PeerAddress address, int count, std::uint64_t bytes) {
    for (int i = 0; i < count; ++i)
      places_.push_back(std::make_unique<CountedPlace>(account_.connections(), address, bytes));
  }
  std::size_t ended(PeerAddress address) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        places_, [&](const auto& each) { return each->address() == address && each->asked; }));
  }

  static constexpr PeerAddress kGreedy{1}, kHonest{2};
  static constexpr std::uint64_t kLimit = 1 << 20;
  Tally tally_;
  Account account_{1000, tally_};
  std::vector<std::unique_ptr<CountedPlace>> places_;
  Watch watch_{account_, kLimit};
};

TEST_F(WatchTest, EndsThePartThatIsTooMuchOfWhoHasMost) {
  take(kGreedy, 100, 40 << 10);
  take(kHonest, 200, 1 << 10);
  watch_.look(kLimit, false, Clock::now());
  EXPECT_EQ(account_.connections().gave_way(), 0U);
  watch_.look(4 * kLimit, false, Clock::now());  // 13/16 of 4,200 KiB
  EXPECT_EQ(ended(kGreedy), 86U);
  EXPECT_EQ(ended(kHonest), 0U);
  EXPECT_FALSE(tally_.notes().empty());
}

TEST_F(WatchTest, WhatHasBeenEndedIsNotMadeGoodByOthersBeforeItIsGivenBack) {
  take(kGreedy, 100, 40 << 10);
  take(kHonest, 50, 1 << 10);
  const Time begin = Clock::now();
  watch_.look(100 * kLimit, false, begin);
  EXPECT_EQ(ended(kGreedy), 100U);
  std::erase_if(places_, [](const auto& each) { return each->asked; });
  watch_.look(4 * kLimit, false, begin + milliseconds(100));
  EXPECT_EQ(ended(kHonest), 0U) << "50 KiB do not explain 4 MiB";
  watch_.look(4 * kLimit, false, begin + milliseconds(1'100));
  EXPECT_GT(ended(kHonest), 0U) << "it does not come back: nothing else is left to end";
}

TEST_F(WatchTest, WhereDescriptorsRunOutIdleConnectionsEndOfWhoHasMost) {
  take(kGreedy, 100, 0);
  take(kHonest, 4, 0);
  const Time later = Clock::now() + seconds(2);
  watch_.look(0, true, later);
  EXPECT_GT(ended(kGreedy), 0U);
  EXPECT_EQ(ended(kHonest), 0U);
}

}  // namespace
}  // namespace joust
