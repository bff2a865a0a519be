// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "measure/process_clock.hpp"
#include "measure/thread_times.hpp"
#include "measure/usage.hpp"
#include "race/trial/family_clock.hpp"
#include "race/trial/load_process.hpp"
#include "race/trial/server_process.hpp"
#include "race/trial/sides.hpp"

namespace joust::race {

// The server of a contestant, as a process of this host. The objects that it is made of outlive it. Steps of
// a server that does not exist do nothing.
class LocalServer : public ServerSide {
 public:
  LocalServer(TrialProcesses& processes, const ServerOrder& order)
      : processes_(processes), order_(order), process_(processes, order) {}

  Step<ServerStart> start() override;
  Step<> settle() override;
  Step<double> wake(TurnSize turn) override;
  Step<SideTurn> rest() override;
  Step<> sum_up() override;
  Step<ServerEnd> finish() override;
  void end() override;

 private:
  void await_processes();
  double read_s();
  Part& part() const { return processes_.server; }

  TrialProcesses& processes_;
  const ServerOrder& order_;
  ServerProcess process_;
  ProcessClock clock_;
  FamilyClock family_;  // of a server that may start processes
  std::optional<Usage> at_start_{};
  ThreadTimes threads_at_start_{};
  std::optional<Surroundings> around_{};  // at the begin of the turn
  double at_rest_s_ = 0;                  // the clock when the server was stopped
  double awake_s_ = 0;                    // at the begin of the turn
  std::uint64_t stops_ = 0;               // how often it was stopped since at_start_
  ServerEnd end_{};
};

// The load of a contestant, likewise.
class LocalLoad : public LoadSide {
 public:
  LocalLoad(TrialProcesses& processes, const LoadOrder& order)
      : processes_(processes), order_(order), process_(processes) {}

  Step<> start(const std::string& address) override;
  Step<> wake() override;
  Step<LoadTurn> take_turn(TurnSize size, bool recorded) override;
  Step<SideTurn> rest() override;
  Step<LoadEnd> finish() override;
  void end() override;

 private:
  // The counts that the load reports at the end of each turn, of all turns until then.
  struct Counts {
    std::uint64_t verified = 0, beside = 0, failed = 0, latency_sum_ns = 0;
  };

  SideFailure explain(const std::string& what, Duration patience) const;
  Part& part() const { return processes_.load; }

  TrialProcesses& processes_;
  const LoadOrder& order_;
  LoadProcess process_;
  ProcessClock clock_;
  ThreadTimes threads_at_start_{};
  std::optional<Surroundings> around_{};
  double turn_s_ = 0;  // CPU time in the last turn
  Counts counted_{};   // at the end of the last turn
  LoadEnd end_{};
};

}  // namespace joust::race
