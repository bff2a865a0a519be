// SPDX-License-Identifier: MIT
//
// What only this engine can get wrong: rings that are too small, and what an older kernel lacks.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "engines/forbidding.hpp"
#include "engines/io_uring/kernel.hpp"
#include "engines/io_uring/ring.hpp"
#include "engines/running.hpp"

namespace joust::test {
namespace {

struct Ring {
  const char* name;
  void (*run)(const Hosting&, Stop&);

  Engine engine() const {
    Engine engine = *find_engine("io-uring");
    engine.run = run;
    return engine;
  }
};
std::ostream& operator<<(std::ostream& out, const Ring& ring) {
  return out << ring.name;
}

constexpr Ring kTwoBuffers{"two_buffers", [](const Hosting& hosting, Stop& stop) {
                             run_io_uring(hosting, stop, {.filled_buffers = 2, .filled_bytes = 512});
                           }};
constexpr Ring kUnfilledBuffers{"unfilled_buffers", [](const Hosting& hosting, Stop& stop) {
                                  run_io_uring(hosting, stop,
                                               {.buffers = 2, .buffer_bytes = 512, .filled_buffers = 0});
                                }};
constexpr Ring kTinyQueues{"tiny_queues", [](const Hosting& hosting, Stop& stop) {
                             run_io_uring(hosting, stop, {.submissions = 2, .completions = 4});
                           }};
constexpr Ring kUndeferred{"undeferred", [](const Hosting& hosting, Stop& stop) {
                             run_io_uring(hosting, stop, {.task_run = TaskRun::coop});
                           }};
constexpr Ring kSingleReceives{"single_receives", [](const Hosting& hosting, Stop& stop) {
                                 run_io_uring(hosting, stop, {.multishot_receive = false});
                               }};
constexpr Ring kBundles{
    "bundles", [](const Hosting& hosting, Stop& stop) {
      run_io_uring(hosting, stop,
                   {.buffers = 8, .buffer_bytes = 300, .filled_buffers = 0, .bundled_receive = true});
    }};
constexpr Ring kRegisteredSends{"registered_sends", [](const Hosting& hosting, Stop& stop) {
                                  run_io_uring(hosting, stop,
                                               {.send = UringSend::registered, .direct_descriptors = true});
                                }};
constexpr Ring kAllOfThese{"all_of_these", [](const Hosting& hosting, Stop& stop) {
                             run_io_uring(hosting, stop,
                                          {.submissions = 1,
                                           .completions = 2,
                                           .buffers = 2,
                                           .buffer_bytes = 4000,
                                           .filled_buffers = 0,
                                           .task_run = TaskRun::coop,
                                           .multishot_receive = false});
                           }};

// Peers that stay are not waited for.
constexpr Limits kBrisk{.linger = std::chrono::milliseconds(5), .drain = std::chrono::milliseconds(20)};

class UringRings : public testing::TestWithParam<Ring> {
 protected:
  void SetUp() override {
    if (const std::string reason = uring_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  const Engine engine_ = GetParam().engine();
};

INSTANTIATE_TEST_SUITE_P(Rings, UringRings,
                         testing::Values(kTwoBuffers, kUnfilledBuffers, kTinyQueues, kUndeferred,
                                         kSingleReceives, kBundles, kRegisteredSends, kAllOfThese),
                         [](const auto& tested) { return std::string(tested.param.name); });

std::vector<Fd> connect_many(const RunningServer& server, std::size_t count) {
  std::vector<Fd> peers;
  while (peers.size() < count) peers.push_back(connect_to(server.address()));
  return peers;
}

TEST_P(UringRings, EchoEveryByteOfAThousandPeersAtOnce) {
  HandlerService service = echo_service();
  RunningServer server(engine_, service);
  std::vector<Fd> peers = connect_many(server, 1000);
  for (unsigned round = 0; round < 3; ++round) {
    const auto bytes = [&](unsigned i) { return pattern(1 + (i * 37 + round * 1009) % 3000, i + round); };
    for (unsigned i = 0; i < peers.size(); ++i) send_all(peers[i], bytes(i));
    for (unsigned i = 0; i < peers.size(); ++i) ASSERT_EQ(receive(peers[i], bytes(i).size()), bytes(i));
  }
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 1000U);
  EXPECT_EQ(server.tally.failures(), 0U);
}

TEST_P(UringRings, EchoWhatIsLargerThanAllBuffersToAPeerThatHasEnded) {
  HandlerService service = echo_service();
  RunningServer server(engine_, service);
  std::vector<std::thread> pairs;
  for (unsigned i = 0; i < 4; ++i)
    pairs.emplace_back([&server, i] {
      const std::string bytes = pattern(500'000, i);
      const Fd peer = connect_to(server.address());
      std::thread sender([&] {
        send_all(peer, bytes);
        ::shutdown(peer.get(), SHUT_WR);
      });
      EXPECT_TRUE(receive(peer, bytes.size()) == bytes);
      EXPECT_TRUE(at_end(peer));
      sender.join();
    });
  for (std::thread& pair : pairs) pair.join();
}

TEST_P(UringRings, ChurnCrossesNobodysBytes) {
  HandlerService service = echo_service();
  RunningServer server(engine_, service);
  std::vector<std::thread> churners;
  for (unsigned thread = 0; thread < 2; ++thread)
    churners.emplace_back([&server, thread] {
      for (unsigned i = 0; i < 400; ++i) {
        const Fd peer = connect_to(server.address());
        const std::string bytes = pattern(300, thread * 1000 + i);
        send_all(peer, bytes);
        if (i % 3 == 0) continue;  // leaves with the reply on its way
        ASSERT_EQ(receive(peer, bytes.size()), bytes);
        const linger reset{.l_onoff = 1, .l_linger = 0};
        if (i % 3 == 1) ::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      }
    });
  for (std::thread& churner : churners) churner.join();
}

TEST_P(UringRings, DialAndServe) {
  HandlerService service = echo_service();
  RunningServer server(engine_, service);
  // An echo service at both ends has nothing to say; so all that can go wrong is opening and ending.
  HandlerService silent = echo_service();
  Dialling dialling(silent, server.address(), 300);
  std::thread run([&] { engine_.run(dialling.hosting, dialling.stop); });
  while (server.tally.opened < 300) std::this_thread::yield();
  dialling.stop.request();
  run.join();
  server.finish();
  EXPECT_EQ(dialling.tally.opened, 300U);
  EXPECT_EQ(dialling.tally.failures() + server.tally.failures(), 0U);
}

TEST_P(UringRings, StopInMidTrafficLeavesNothingOpen) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 200; ++i) {
    HandlerService service = echo_service();
    RunningServer server(engine_, service, kBrisk);
    std::vector<Fd> peers = connect_many(server, 3);
    for (const Fd& peer : peers) send_all(peer, pattern(20'000, 1));
    if (i % 2 == 0) server.stop.request();
    server.finish();
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(UringRing, SaysWhenItsCompletionQueueWasFull) {
  HandlerService service = echo_service();
  const Engine engine = kTinyQueues.engine();
  RunningServer server(engine, service, kBrisk);
  const std::vector<Fd> peers = connect_many(server, 100);
  for (const Fd& peer : peers) send_all(peer, "x");
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
  server.finish();
  const auto notes = server.tally.notes();
  EXPECT_TRUE(std::ranges::any_of(
      notes, [](const std::string& note) { return note.find("completion queue") != note.npos; }));
}

// Where the kernel forbids rings, the engine says so and nothing takes its place.
TEST(UringRing, ForbiddenIsReportedWithItsCause) {
  EXPECT_EXIT(
      {
        forbid_system_call(SYS_io_uring_setup);
        const std::string reason = find_engine("io-uring")->unavailable();
        HandlerService service = echo_service();
        Dialling dialling(service, "127.0.0.1:1", 1);
        try {
          find_engine("io-uring")->run(dialling.hosting, dialling.stop);
        } catch (const std::system_error& error) {
          std::fprintf(stderr, "%s | %s", reason.c_str(), error.what());
          std::_Exit(error.code().value() == EPERM ? 0 : 1);
        }
        std::_Exit(2);
      },
      testing::ExitedWithCode(0),
      "io_uring_setup\\(\\): Operation not permitted.* \\| io_uring_setup\\(\\): Operation not permitted");
}

}  // namespace
}  // namespace joust::test
