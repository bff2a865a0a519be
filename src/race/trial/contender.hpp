// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "measure/process_clock.hpp"
#include "measure/thread_times.hpp"
#include "measure/usage.hpp"
#include "race/trial/family_clock.hpp"
#include "race/trial/process_setup.hpp"
#include "race/trial/surroundings.hpp"
#include "race/trial/trial_sides.hpp"

namespace joust::race {

// A contestant alive in a generation: its server and its load, with all connections open. Between its turns
// all their processes are stopped (SIGSTOP), so that polling and background threads take nothing from the
// contestant whose turn it is. A step returns false or nothing when the trial has failed, with the reason in
// the trial, or was interrupted.
class Contender {
 public:
  Contender(const ProcessSetup& setup, const TrialOrder& order) : sides_(setup, order) {}

  // Starts both processes and waits until all connections are open. They are stopped afterwards.
  bool start();
  // Works for this time or so many messages, and then until the last reply has been verified. A turn that is
  // not `recorded` is not in the load's result either.
  std::optional<Turn> take_turn(TurnSize size, bool recorded);
  // Ends both processes in order. The result covers all recorded turns.
  Trial finish();

  bool failed() { return !sides_.trial().failure.empty() || sides_.setup().stop.requested(); }

 private:
  // The counts that the load reports at the end of each turn, of all turns until then.
  struct Counts {
    std::uint64_t verified = 0, beside = 0, failed = 0, latency_sum_ns = 0;
  };
  struct Used {
    double server_s = 0, client_s = 0;
    Surroundings around{};
  };

  struct Threads {
    ThreadTimes server{}, client{};
  };

  bool connect();
  double server_s();
  Threads read_threads();
  Used used();
  void await_processes();
  void go();
  void become_quiet();
  Duration longest(TurnSize size) const;
  void explain(Duration patience);
  void rest();
  bool finish_in_order();

  TrialSides sides_;
  const PinnedCpus pinned_ = pinned_cpus(sides_.setup().cpus, sides_.order().entry.in_process);
  ProcessClock server_clock_, client_clock_;
  FamilyClock server_family_;  // of a server that may start processes
  std::optional<Usage> server_at_start_{};
  Threads threads_at_start_{};
  Counts counted_{};                            // counts at the end of the last turn
  double server_cpu_s_ = 0, client_cpu_s_ = 0;  // CPU time in all turns, recorded or not
  double server_last_s_ = 0;                    // the server's clock when it was stopped
  std::uint64_t stops_ = 0;                     // how often the server was stopped since server_at_start_
};

}  // namespace joust::race
