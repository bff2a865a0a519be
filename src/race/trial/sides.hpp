// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/processes.hpp"
#include "net/stop.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/surroundings.hpp"

// The two sides of a contestant alive in a generation. Their steps are coarse and pass plain data, so that a
// side may be on another host.
namespace joust::race {

// Why a side of a trial could not go on. The trial has failed.
struct SideFailure {
  std::string what{};
  std::vector<std::string> last_words{};  // the end of the standard error of the process at fault
  bool refused = false;                   // a process of joust reported wrong usage
  bool not_found = false;                 // the program of a command is missing, or a part that it needs
  bool of_host = false;                   // a host was lost (Trial::host_lost)
  std::string document{};                 // the result of a load that has ended early; may be empty
};

template <typename Result = void>
using Step = std::expected<Result, SideFailure>;

// Records why the trial has failed. Returns false.
bool fail(SideFailure failure, Trial& trial);
// Returns whether the step succeeded; records its failure otherwise.
template <typename Result>
bool succeeded(Step<Result>& step, Trial& trial) {
  return step.has_value() || fail(std::move(step.error()), trial);
}

// The part of a turn that each side reports.
struct SideTurn {
  double cpu_s = 0;       // CPU time in the whole turn
  Surroundings around{};  // the window of the turn; empty if another side looks at this host
};

// The turn as the load saw it.
struct LoadTurn {
  double window_s = 0;               // from the last reply of the ramp to the last reply
  double turn_s = 0;                 // from its begin until the last reply was verified
  std::uint64_t verified = 0;        // replies in the window
  std::uint64_t messages = 0;        // of the whole turn
  std::uint64_t failed = 0;          // requests that failed
  std::uint64_t latency_sum_ns = 0;  // the sum of the latencies
  std::int64_t began_ns = 0;         // its begin, on the monotonic clock of the load's host
};

// The end of a side that has worked to its end.
struct SideEnd {
  double cpu_s = 0;                        // CPU time in all turns, recorded or not
  std::optional<double> busiest_thread{};  // the share of that time that one thread used
  std::vector<ThreadGroup> scheduling{};   // where it was asked for
};
struct ServerStart {
  std::string address{};  // at which it listens; empty without a server
  ServerResult result{};  // what it reports of itself at its start
};
struct ServerEnd : SideEnd {
  ServerResult result{};
};
struct LoadEnd : SideEnd {
  std::string document{};  // of `joust load --json`
};

// The calls of a side are made in the order in which they stand here; wake() to rest() repeat. A step that
// fails is the last one but end(). Between turns all processes of a side are stopped (SIGSTOP), so that
// polling and background threads take nothing from the contestant whose turn it is.
class ServerSide {
 public:
  virtual ~ServerSide() = default;
  virtual Step<ServerStart> start() = 0;
  virtual Step<> settle() = 0;  // all connections are open; it is stopped afterwards
  // Returns the CPU time that it has used while it was stopped. `turn`: the one that follows.
  virtual Step<double> wake(TurnSize turn) = 0;
  virtual Step<SideTurn> rest() = 0;
  virtual Step<> sum_up() = 0;  // all turns are over; it goes on until the load has ended
  virtual Step<ServerEnd> finish() = 0;
  virtual void end() = 0;  // after a failure
};

class LoadSide {
 public:
  virtual ~LoadSide() = default;
  virtual Step<> start(const std::string& address) = 0;  // all connections are open; it is stopped afterwards
  virtual Step<> wake() = 0;
  // Returns when the last reply of the turn has been verified.
  virtual Step<LoadTurn> take_turn(TurnSize size, bool recorded) = 0;
  virtual Step<SideTurn> rest() = 0;
  virtual Step<LoadEnd> finish() = 0;
  virtual void end() = 0;
};

// A contestant alive in a generation: its server and its load, with all connections open, and the trial that
// their reports fill in. A step returns false or nothing when the trial has failed, with the reason in the
// trial, or was interrupted. One thread.
class Contender {
 public:
  // `load_forks`: its load has processes whose usage it cannot read itself.
  Contender(std::unique_ptr<ServerSide> server, std::unique_ptr<LoadSide> load, bool load_forks,
            const Stop& stop)
      : server_(std::move(server)), load_(std::move(load)), load_forks_(load_forks), stop_(stop) {}

  // Starts both sides and waits until all connections are open. They are stopped afterwards.
  bool start();
  // Works for this time or so many messages, and then until the last reply has been verified. A turn that is
  // not `recorded` is not in the load's result either.
  std::optional<Turn> take_turn(TurnSize size, bool recorded);
  // Ends both sides in order. The result covers all recorded turns.
  Trial finish();

 private:
  bool finish_in_order();
  bool failed() const { return !trial_.failure.empty() || stop_.requested(); }

  std::unique_ptr<ServerSide> server_;
  std::unique_ptr<LoadSide> load_;
  const bool load_forks_;
  const Stop& stop_;
  Trial trial_{};
};

}  // namespace joust::race
