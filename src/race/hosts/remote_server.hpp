// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "race/hosts/trial_link.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/sides.hpp"

namespace joust::race {

// How long an agent may take to answer, beside the time that its work may take.
inline constexpr Duration kForAnswer = std::chrono::seconds(10);
// From the request to the begin of a turn that several hosts begin together.
inline constexpr Duration kLeadOfTurn = std::chrono::milliseconds(10);

// A contestant's server on another host. While it works, its agent has a request that it answers at the end
// of the turn: so no message travels meanwhile, and none is looked for. The link outlives it.
class RemoteServer : public ServerSide {
 public:
  // `number`: of the contestant, on that host. `lead`: from a turn's request to its begin.
  RemoteServer(HostLink& link, std::uint64_t number, ServerOrder order, Duration lead)
      : link_(link), number_(number), order_(std::move(order)), lead_(lead) {}
  ~RemoteServer() override;

  Step<ServerStart> start() override;
  Step<> settle() override;
  Step<double> wake(TurnSize turn) override;
  Step<SideTurn> rest() override;
  Step<> sum_up() override;
  Step<ServerEnd> finish() override;
  void end() override;

 private:
  template <typename Result>
  Step<Result> ask(const char* step, Duration patience);
  nlohmann::json request(const char* step) const;
  Duration expected(TurnSize turn) const;
  Step<> await_turn();

  TrialLink link_;
  const std::uint64_t number_;
  const ServerOrder order_;
  const Duration lead_;
  TurnSize turn_{};                        // under way
  Time begun_{};                           // when it began
  std::optional<Duration> answered_in_{};  // how long the request of the turn takes, while it is not answered
  Duration per_message_{};                 // time of a message in counted turns, so far as is known
};

}  // namespace joust::race
