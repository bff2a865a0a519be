// SPDX-License-Identifier: MIT
//
// Where one thread serves many peers, each has its turn. The thread is held until all peers have input for
// it; then the order in which it serves them shows how much one peer gets at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "conformance/attempts.hpp"
#include "conformance/scripted.hpp"

namespace joust::conformance {
namespace {

using What = Told::What;

class Fairness : public EngineTest {};
JOUST_EVERY_ENGINE(Fairness, Role::serve);

std::size_t count(const std::vector<Told>& all, What what) {
  return static_cast<std::size_t>(std::ranges::count(all, what, &Told::what));
}

// Engines serve peers in any order. Of one peer that joined before the busy one and one that joined after it,
// at least one is served later in a turn.
struct Neighbours {
  explicit Neighbours(ScriptedService& service, const Server& server)
      : early(service.join(server)),
        busy(service.join(server)),
        late(service.join(server)),
        holder(service.join(server)) {}
  static constexpr unsigned kEarly = 0, kBusy = 1, kLate = 2;
  Peer early, busy, late, holder;
};

// Releases the thread, whose modest peers have sent a letter. Returns the most that others got before one of
// them.
std::size_t most_before_the_modest(ScriptedService& service, Neighbours& neighbours,
                                   const std::function<std::size_t(const std::vector<Told>&)>& amount) {
  for (Peer* peer : {&neighbours.early, &neighbours.late}) peer->send("e");
  service.let_go();
  for (Peer* peer : {&neighbours.early, &neighbours.late}) peer->receive(1);
  return std::max(amount(service.told_before(Neighbours::kEarly)),
                  amount(service.told_before(Neighbours::kLate)));
}

TEST_P(Fairness, WhoeverIsServedDoesNotWaitForAllWhoConnect) {
  checks(Duty::accept_quota);
  constexpr std::size_t kNewcomers = 64;
  Limits limits = brisk();
  limits.accepts_per_turn = 4;
  expect_at_most(kNewcomers / 4, [&]() -> std::optional<std::size_t> {
    ScriptedService service;
    Server server(GetParam(), service, {.limits = limits});
    Neighbours neighbours(service, server);
    if (!service.on_one_thread()) return std::nullopt;
    service.hold_next_opened();
    std::vector<Fd> newcomers;
    newcomers.push_back(begin_connect(server.endpoint()));
    service.gate().await_held();
    for (std::size_t i = 1; i < kNewcomers; ++i) newcomers.push_back(begin_connect(server.endpoint()));
    return most_before_the_modest(service, neighbours, [](auto& told) { return count(told, What::opened); });
  });
}

TEST_P(Fairness, AFlooderIsReadFromUpToItsQuota) {
  checks(Duty::read_quota);
  constexpr std::size_t kFlood = 48 << 10;
  Limits limits = brisk();
  limits.read_bytes = 256;
  limits.read_bytes_per_turn = 1024;
  // Where the kernel fills buffers itself, it fills some before the quota stops it.
  expect_at_most(kFlood / 3, [&]() -> std::optional<std::size_t> {
    ScriptedService service;
    Server server(GetParam(), service, {.limits = limits});
    Neighbours neighbours(service, server);
    if (!service.on_one_thread()) return std::nullopt;
    neighbours.holder.send("h");
    service.gate().await_held();
    neighbours.busy.send(std::string(kFlood, '.') + "e");
    const std::size_t most = most_before_the_modest(
        service, neighbours, [](auto& told) { return bytes_of(Neighbours::kBusy, told); });
    EXPECT_EQ(neighbours.busy.receive(1), "e");
    return most;
  });
}

TEST_P(Fairness, AFastReaderIsSentToUpToItsQuota) {
  checks(Duty::send_quota);
  expect_at_most(ScriptedService::kSegments / 20, [&]() -> std::optional<std::size_t> {
    ScriptedService service;
    Server server(GetParam(), service);
    Neighbours neighbours(service, server);
    if (!service.on_one_thread()) return std::nullopt;
    neighbours.holder.send("h");
    service.gate().await_held();
    neighbours.busy.send("s");
    const std::size_t most =
        most_before_the_modest(service, neighbours, [](auto& told) { return count(told, What::sent); });
    EXPECT_EQ(neighbours.busy.receive(ScriptedService::kSegments * 16).substr(0, 8), "sixteen ");
    return most;
  });
}

}  // namespace
}  // namespace joust::conformance
