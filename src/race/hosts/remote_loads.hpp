// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hosts/link.hpp"
#include "race/hosts/trial_link.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/sides.hpp"

namespace joust::race {

// A host that makes a part of a load.
struct LoadHost {
  HostLink* link = nullptr;
  Duration clock_offset{};  // of its monotonic clock to that of this host
  LoadOrder order{};
};

// The load of a contestant, made by one or several hosts together. In each step all hosts work at once. The
// links outlive it.
class RemoteLoads : public LoadSide {
 public:
  // `hosts`: at least one; this host, if it is one of them, is the first one, because it works while its
  // reply is awaited. `number`: of the contestant.
  RemoteLoads(std::vector<LoadHost> hosts, std::uint64_t number);
  ~RemoteLoads() override;

  Step<> start(const std::string& address) override;
  Step<> wake() override;
  Step<LoadTurn> take_turn(TurnSize size, bool recorded) override;
  Step<SideTurn> rest() override;
  Step<LoadEnd> finish() override;
  void end() override;

 private:
  template <typename Result>
  Step<std::vector<Result>> ask(const char* step, Duration patience, const nlohmann::json& arguments);

  const std::vector<LoadHost> hosts_;
  std::vector<TrialLink> links_{};  // in the same order
  const std::uint64_t number_;
};

// Returns the turn that several hosts took together. Rates add up: the window is as long as the sum of all
// replies takes at the sum of all rates.
LoadTurn together(const std::vector<LoadTurn>& turns);

}  // namespace joust::race
