// SPDX-License-Identifier: MIT
//
// Where one thread serves many peers, each has its turn. The thread is held until all peers have input for
// it; then the order in which it serves them shows how much one peer gets at a time.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/scripted.hpp"

namespace joust::conformance {
namespace {

using What = Told::What;

class Fairness : public EngineTest {};
JOUST_EVERY_ENGINE(Fairness, Role::serve);

#define JOUST_SKIP_UNLESS_ON_ONE_THREAD(service) \
  if (!(service).on_one_thread()) GTEST_SKIP() << "these peers do not share a thread"

std::size_t count(const std::vector<Told>& all, What what) {
  return static_cast<std::size_t>(std::ranges::count(all, what, &Told::what));
}

// Engines serve peers in any order. Of one peer that joined before the busy one and one that joined after it,
// at least one is served later in a turn.
struct Crowd {
  explicit Crowd(ScriptedService& service, const Server& server)
      : early(service.join(server)),
        busy(service.join(server)),
        late(service.join(server)),
        holder(service.join(server)) {}
  static constexpr unsigned kEarly = 0, kBusy = 1, kLate = 2;
  Peer early, busy, late, holder;
};

TEST_P(Fairness, WhoeverIsServedDoesNotWaitForAllWhoConnect) {
  checks(Duty::accept_quota);
  constexpr std::size_t kNewcomers = 64;
  Limits limits = brisk();
  limits.accepts_per_turn = 4;
  ScriptedService service;
  Server server(GetParam(), service, {.limits = limits});
  Crowd crowd(service, server);
  JOUST_SKIP_UNLESS_ON_ONE_THREAD(service);
  service.hold_next_opened();
  std::vector<Fd> newcomers;
  newcomers.push_back(begin_connect(server.endpoint()));
  service.gate().await_held();
  for (std::size_t i = 1; i < kNewcomers; ++i) newcomers.push_back(begin_connect(server.endpoint()));
  for (Peer* peer : {&crowd.early, &crowd.late}) peer->send("e");
  service.let_go();
  for (Peer* peer : {&crowd.early, &crowd.late}) peer->receive(1);
  for (const unsigned modest : {Crowd::kEarly, Crowd::kLate})
    EXPECT_LE(count(service.told_before(modest), What::opened), kNewcomers / 4);
}

TEST_P(Fairness, AFlooderIsReadFromUpToItsQuota) {
  checks(Duty::read_quota);
  constexpr std::size_t kFlood = 48 << 10;
  Limits limits = brisk();
  limits.read_bytes = 256;
  limits.read_bytes_per_turn = 1024;
  ScriptedService service;
  Server server(GetParam(), service, {.limits = limits});
  Crowd crowd(service, server);
  JOUST_SKIP_UNLESS_ON_ONE_THREAD(service);
  crowd.holder.send("h");
  service.gate().await_held();
  crowd.busy.send(std::string(kFlood, '.') + "e");
  for (Peer* peer : {&crowd.early, &crowd.late}) peer->send("e");
  service.let_go();
  for (Peer* peer : {&crowd.early, &crowd.late}) peer->receive(1);
  // Where the kernel fills buffers itself, it fills some before the quota stops it.
  for (const unsigned modest : {Crowd::kEarly, Crowd::kLate})
    EXPECT_LE(bytes_of(Crowd::kBusy, service.told_before(modest)), kFlood / 3);
  EXPECT_EQ(crowd.busy.receive(1), "e");
}

TEST_P(Fairness, AFastReaderIsSentToUpToItsQuota) {
  checks(Duty::send_quota);
  ScriptedService service;
  Server server(GetParam(), service);
  Crowd crowd(service, server);
  JOUST_SKIP_UNLESS_ON_ONE_THREAD(service);
  crowd.holder.send("h");
  service.gate().await_held();
  crowd.busy.send("s");
  for (Peer* peer : {&crowd.early, &crowd.late}) peer->send("e");
  service.let_go();
  for (Peer* peer : {&crowd.early, &crowd.late}) peer->receive(1);
  for (const unsigned modest : {Crowd::kEarly, Crowd::kLate})
    EXPECT_LE(count(service.told_before(modest), What::sent), ScriptedService::kSegments / 20);
  EXPECT_EQ(crowd.busy.receive(ScriptedService::kSegments * 16).substr(0, 8), "sixteen ");
}

}  // namespace
}  // namespace joust::conformance
