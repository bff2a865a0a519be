// SPDX-License-Identifier: MIT
#include "joust/server.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <future>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "engines/running.hpp"
#include "hosting/protocols.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

using test::prefix_protocol;

// One line to the server and its reply.
std::string ask(const Server& server, const std::string& line) {
  const Fd peer = test::connect_to(server.address());
  test::send_all(peer, line + "\n");
  return test::receive(peer, line.size() + 3);
}

TEST(Server, ServesInTheBackgroundUntilItIsStopped) {
  Server server(prefix_protocol());
  server.start();
  EXPECT_EQ(ask(server, "hello"), "> hello\n");
  EXPECT_EQ(ask(server, "again"), "> again\n");
  server.stop();
  const ServerStatistics statistics = server.statistics();
  EXPECT_EQ(statistics.connections_opened, 2U);
  EXPECT_EQ(statistics.bytes_received, 12U);
  EXPECT_EQ(statistics.bytes_sent, 16U);
  EXPECT_THROW(test::connect_to(server.address()), std::system_error) << "who comes later is refused";
}

TEST(Server, ServesOnTheCallingThreadUntilTheTokenIsRequested) {
  Server server(prefix_protocol());
  std::jthread serving([&server](const std::stop_token& stop) { server.run(stop); });
  EXPECT_EQ(ask(server, "hello"), "> hello\n");
  serving.request_stop();
  serving.join();
  EXPECT_EQ(server.statistics().connections_opened, 1U);
}

TEST(Server, TellsItsServiceWhoCanReachIt) {
  const auto on_loopback = [](const std::string& address, bool is_public) {
    std::optional<bool> told;
    Protocol protocol = prefix_protocol();
    protocol.make_server = [&told, make = protocol.make_server](const Parameters& parameters) {
      told = parameters.on_loopback;
      return make(parameters);
    };
    const Server server(std::move(protocol), {.listen = address, .is_public = is_public});
    return told;
  };
  const test::TemporaryFolder folder;
  EXPECT_EQ(on_loopback("127.0.0.1:0", false), true);
  EXPECT_EQ(on_loopback("127.1.2.3:0", true), true) << "who may reach it does not matter, but who can";
  EXPECT_EQ(on_loopback("unix:" + folder.file("socket"), false), true);
  EXPECT_EQ(on_loopback("0.0.0.0:0", true), false);
}

TEST(Server, RunEndsWhenAnotherThreadStopsIt) {
  Server server(prefix_protocol());
  auto serving = std::async(std::launch::async, [&server] { server.run(); });
  EXPECT_EQ(ask(server, "hello"), "> hello\n");
  server.stop();
  serving.get();
}

TEST(Server, PeersWaitUntilItServes) {
  Server server(prefix_protocol());
  const Fd peer = test::connect_to(server.address());
  test::send_all(peer, "early\n");
  server.start();
  EXPECT_EQ(test::receive(peer, 8), "> early\n");
}

TEST(Server, StopLetsAReplyThroughAndStopNowDoesNotWait) {
  Server server(prefix_protocol(), {.limits = {.drain = std::chrono::hours(1)}});
  server.start();
  const Fd peer = test::connect_to(server.address());
  test::send_all(peer, "begun");  // a request without its end: a drain would wait for it
  auto stopping = std::async(std::launch::async, [&server] { server.stop(); });
  EXPECT_EQ(stopping.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  server.stop_now();
  stopping.get();
}

TEST(Server, StoppedBeforeItServesEndsAtOnce) {
  Server server(prefix_protocol());
  server.stop();
  server.run();
}

TEST(Server, ServesOnce) {
  Server server(prefix_protocol());
  server.start();
  EXPECT_THROW(server.run(), std::logic_error);
  server.stop();
  EXPECT_THROW(server.start(), std::logic_error);
}

TEST(Server, IsGoneWithItsThreadAndDescriptorsAtItsEnd) {
  const std::size_t descriptors = test::open_descriptors(), threads = test::live_threads();
  {
    Server unused(prefix_protocol());
    Server server(prefix_protocol(), {.engine = "threads"});
    server.start();
    EXPECT_EQ(ask(server, "hello"), "> hello\n");
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  EXPECT_EQ(test::live_threads(), threads);
}

TEST(Server, SeveralServeInOneProgram) {
  Server epoll(prefix_protocol("1 "), {.engine = "epoll"});
  Server threads(prefix_protocol("2 "), {.engine = "threads"});
  epoll.start();
  threads.start();
  EXPECT_EQ(ask(epoll, "hello"), "1 hello\n");
  EXPECT_EQ(ask(threads, "hello"), "2 hello\n");
}

TEST(Server, SaysWhereItListens) {
  const Server server(prefix_protocol(), {.listen = "127.0.0.1:0"});
  EXPECT_EQ(server.addresses(), std::vector{server.address()});
  EXPECT_TRUE(server.address().starts_with("127.0.0.1:")) << server.address();
  EXPECT_NE(server.address(), "127.0.0.1:0");
}

TEST(Server, ThrowsWhereItsAddressIsTaken) {
  const Server server(prefix_protocol());
  try {
    Server another(prefix_protocol(), {.listen = server.address()});
    FAIL() << "two servers on one address";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::address_in_use);
  }
}

TEST(Server, CountsPeersThatBreakTheProtocol) {
  Server server(prefix_protocol());
  server.start();
  const Fd peer = test::connect_to(server.address());
  test::send_all(peer, std::string(200, 'x'));
  EXPECT_TRUE(test::at_end(peer));
  server.stop();
  const ServerStatistics statistics = server.statistics();
  EXPECT_EQ(statistics.failures[static_cast<std::size_t>(Stage::verify)], 1U);
  EXPECT_EQ(statistics.complaints.size(), 1U);
}

// A service that counts; its figures are complete when the server has stopped.
TEST(Server, GivesWhatTheServiceHasCounted) {
  class Counting : public Service {
   public:
    explicit Counting(std::unique_ptr<Service> inner) : inner_(std::move(inner)) {}
    std::unique_ptr<Session> open(const ConnectionInfo& info) override {
      ++opened_;
      return inner_->open(info);
    }
    std::vector<ResultGroup> results() const override { return {{"peers", {{"opened", opened_.load()}}}}; }

   private:
    const std::unique_ptr<Service> inner_;
    std::atomic<std::uint64_t> opened_{0};
  };
  Protocol protocol = prefix_protocol();
  protocol.make_server = [make = protocol.make_server](const Parameters& parameters) {
    return std::make_unique<Counting>(make(parameters));
  };
  Server server(protocol);
  server.start();
  ask(server, "hello");
  EXPECT_TRUE(server.statistics().groups.empty());
  server.stop();
  const auto groups = server.statistics().groups;
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].figures[0].second, ResultGroup::Figure(std::uint64_t{1}));
}

// No descriptor is left for what the engine needs.
TEST(Server, HandsOnWhatEndsTheEngine) {
  Server server(prefix_protocol());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  server.start();
  EXPECT_THROW(server.stop(), std::system_error);
  ::setrlimit(RLIMIT_NOFILE, &before);
  server.stop();
}

}  // namespace
}  // namespace joust
