// SPDX-License-Identifier: MIT
//
// An engine that has nothing to do sleeps, whatever its peers have left behind, and wakes up when it is needed.
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "conformance/idleness.hpp"
#include "conformance/scripted.hpp"

namespace joust::conformance {
namespace {

using What = Told::What;

class Waiting : public EngineTest {
 protected:
  // Whether the variant is one that is to sleep; says why not.
  void SetUp() override {
    EngineTest::SetUp();
    if (GetParam().options.wait == Wait::spin) GTEST_SKIP() << "it is told to spin";
    for (const Knob& knob : GetParam().engine->knobs)
      if (!knob.kernel_thread.empty() && GetParam().options.is(knob.name, knob.kernel_thread))
        GTEST_SKIP() << "a thread of the kernel polls for it";
  }
};
JOUST_EVERY_ENGINE(Waiting, Role::serve);

TEST_P(Waiting, SleepsWhileNobodySpeaks) {
  checks(Duty::idle);
  ScriptedService service;
  Server server(GetParam(), service);
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(service.join(server));
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
}

TEST_P(Waiting, SleepsWhileWhatArrivesIsNotWanted) {
  checks(Duty::idle);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer peer = service.join(server);
  peer.send("n");
  service.await(What::bytes, 0);
  for (int i = 0; i < 3; ++i) peer.send("e");
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
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

// A peer that has closed its unix socket cannot hear any more, which some kernel interfaces repeat for ever.
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
  service.want_again();
  service.await(What::finished, 0);
  EXPECT_EQ(service.bytes_of(0), 4U) << "what came before the end";
}

// How often the thread has gone to sleep.
unsigned long sleeps_of(int thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("voluntary_ctxt_switches:")) return std::stoul(line.substr(line.find('\t')));
  throw std::runtime_error("no count of context switches");
}

class Spinning : public EngineTest {};
JOUST_EVERY_ENGINE(Spinning, Role::serve);

TEST_P(Spinning, DoesNotSleepWhereItIsToldToSpin) {
  checks(Duty::wait);
  if (!GetParam().engine->wait_ignored.empty()) GTEST_SKIP() << GetParam().engine->wait_ignored;
  Variant variant = GetParam();
  variant.options.wait = Wait::spin;
  ScriptedService service;
  Server server(variant, service);
  Peer peer = service.join(server);
  const unsigned long before = sleeps_of(service.thread_of(0));
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    peer.send("e");
    peer.receive(1);
  }
  EXPECT_LT(sleeps_of(service.thread_of(0)), before + 10);
}

}  // namespace
}  // namespace joust::conformance
