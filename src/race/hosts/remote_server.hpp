// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "race/hosts/trial_link.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/sides.hpp"

namespace joust::race {

// How long an agent may take to answer, beside the time that its work may take.
inline constexpr Duration kForAnswer = std::chrono::seconds(10);

// A contestant's server on another host. No message travels while it works. The link outlives it.
class RemoteServer : public ServerSide {
 public:
  // `number`: of the contestant, on that host.
  RemoteServer(TrialLink& link, std::uint64_t number, ServerOrder order)
      : link_(link), number_(number), order_(std::move(order)) {}
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

  TrialLink& link_;
  const std::uint64_t number_;
  const ServerOrder order_;
};

}  // namespace joust::race
