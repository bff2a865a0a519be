// SPDX-License-Identifier: MIT
//
// An idle engine sleeps, whatever the state of its peers, and wakes up for work.
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "conformance/idleness.hpp"
#include "conformance/scripted.hpp"

namespace joust::conformance {
namespace {

using What = Told::What;

class Waiting : public SleepingTest {};
JOUST_EVERY_ENGINE(Waiting, Role::serve);

TEST_P(Waiting, SleepsWhileNobodySpeaks) {
  checks(Duty::idle);
  ScriptedService service;
  Server server(GetParam(), service);
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(service.join(server));
  if (sessions_are_common(GetParam())) {
    service.publish();
    for (Peer& peer : peers) EXPECT_EQ(peer.receive(1), "p");
  }
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
}

TEST_P(Waiting, SleepsWhileWhatArrivesIsNotWanted) {
  checks(Duty::idle);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer peer = service.join(server);
  peer.send("n");
  service.await_bytes(2, 0);
  for (int i = 0; i < 3; ++i) peer.send("e");
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  if (!sessions_are_common(GetParam())) return;
  service.want_again();
  EXPECT_EQ(peer.receive(3), "eee");
}

TEST_P(Waiting, SleepsWhileAPeerDoesNotRead) {
  checks(Duty::idle);
  ScriptedService service;
  Server server(GetParam(), service, {.address = unix_address(), .socket = {.send_buffer = 4 << 10}});
  Peer peer = service.join(server);
  peer.send("s");
  EXPECT_TRUE(peer.hears_within(kPatience));
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  peer.receive(ScriptedService::kSegments * 16);
}

TEST_P(Waiting, SleepsWhileAStopWaits) {
  checks(Duty::idle);
  Limits limits = brisk();
  limits.drain = kPatience;
  ScriptedService service;
  Server server(GetParam(), service, {.limits = limits});
  Peer peer = service.join(server);
  peer.send("ke");
  peer.receive(1);
  server.run().stop().request();
  service.await(What::drain, 0);
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  peer.close();
  server.run().wait();
}

// A peer that has closed its unix socket is hung up, which some kernel interfaces report for ever.
TEST_P(Waiting, SleepsBesideAPeerThatHasHungUp) {
  checks(Duty::hang_ups);
  ScriptedService service;
  Server server(GetParam(), service, {.address = unix_address()});
  {
    Peer peer = service.join(server);
    peer.send_and_see_read("n");
    peer.send("..");
  }
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  if (!sessions_are_common(GetParam())) return;
  service.want_again();
  service.await(What::finished, 0);
  EXPECT_EQ(service.bytes_of(0), 4U) << "what came before the end";
}

// The number of times the thread has gone to sleep.
unsigned long sleeps_of(int thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("voluntary_ctxt_switches:")) return std::stoul(line.substr(line.find('\t')));
  throw std::runtime_error("no count of context switches");
}

class Spinning : public EngineTest {
 public:
  // Threads that share work wait for its lock.
  static bool applies(const Variant& variant) {
    return !has_several_workers(variant) || variant.engine->least_threads == 0;
  }
};
JOUST_ENGINES(Spinning, variants, Role::serve, spinning);

TEST_P(Spinning, DoesNotSleepWhereItIsToldToSpin) {
  checks(Duty::wait);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer peer = service.join(server);
  const unsigned long before = sleeps_of(service.thread_of(0));
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    peer.send("e");
    peer.receive(1);
  }
  EXPECT_LT(sleeps_of(service.thread_of(0)), before + 10);
}

}  // namespace
}  // namespace joust::conformance
