// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/processes.hpp"
#include "measure/syscall_counter.hpp"
#include "measure/usage.hpp"
#include "net/stop.hpp"
#include "race/trial/child.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/sides.hpp"
#include "race/trial/temporary_folder.hpp"

namespace joust::race {

// One process of a trial, with its name for messages.
struct Part {
  const char* name;                         // "the server"
  std::optional<TemporaryFolder> folder{};  // for its files, until it has ended
  std::unique_ptr<Child> child{};
  std::optional<SyscallCounter> calls{};
  std::string no_calls{};  // why the calls are not counted
  std::uint64_t calls_before = 0, calls_after = 0;

  bool running() const { return child && !child->ended(); }
  bool gone() const { return child && child->ended(); }
};

// The two processes of a trial. While one is waited for, the output of the other is read too, so that neither
// blocks on a full pipe.
class TrialProcesses {
 public:
  TrialProcesses(const Stop& stop, bool count_calls) : stop_(stop), count_calls_(count_calls) {}

  Part server{.name = "the server"}, load{.name = "the load"};

  // Fails if no process can be made. Later trials may still get a process.
  Step<> start(Part& part, const ChildCommand& command) const;
  // Returns false if the deadline passed first, or the user interrupted.
  bool wait_until(Time deadline, const std::function<bool()>& done) const;
  // Skips lines of a child until this event of the child protocol, and returns it. Nothing if it does not
  // arrive in time, or the child ends without it.
  std::optional<nlohmann::json> next_event(Part& part, std::string_view name, Duration patience) const;
  // Signals running processes to end, stopped ones too, and waits for them, even after an interruption,
  // because a killed process cannot clean up. Kills those that do not end in time, or before a second
  // interruption.
  void end(Duration patience) const;
  bool interrupted() const { return stop_.requested(); }

 private:
  std::vector<Child*> children() const;

  const Stop& stop_;
  bool count_calls_;
};

// Returns a failure with the last words of the part at fault.
SideFailure failure_of(const Part& part, std::string what);
// The same of a part that did not do something in time. `hint`: the end of the message where the time was
// over.
SideFailure late_failure(const Part& part, const std::string& what, Duration patience,
                         const std::string& hint = {});

// Returns the "event" of a line of the child protocol; empty for other lines.
std::string event_name(const nlohmann::json& said);

// The load of a trial, from its start to its result.
class LoadProcess {
 public:
  // Uses the place of the load in `processes`, and keeps a reference to it.
  explicit LoadProcess(TrialProcesses& processes) : processes_(processes) {}

  // Starts `joust load ...`; `address`: where to connect, empty in process.
  Step<> start(ChildCommand command, const std::string& address);
  // Returns the document of a load that has ended.
  Step<std::string> document() const;

 private:
  std::string path() const;

  TrialProcesses& processes_;
};

// The server of a trial, from its start to its end. A server of another program is foreign: only its process
// is known. One without a command does not exist, and its steps do nothing.
class ServerProcess {
 public:
  // Uses the place of the server in `processes`, and keeps a reference to both.
  ServerProcess(TrialProcesses& processes, const ServerOrder& order)
      : processes_(processes), order_(order), values_(order.values) {}

  // Returns when the server listens.
  Step<> start();
  // Ends it in order. Fails if it does not end in time, or ends badly.
  Step<> stop();

  const std::string& address() const { return address_; }
  // Returns what it has reported of itself until now.
  ServerResult& result() { return result_; }
  // Returns the values of the order, with the port of a foreign server that has been started.
  const CommandValues& values() const { return values_; }
  bool foreign() const { return order_.command.foreign; }
  SideFailure early_end() const;  // of a server that has ended before the load

 private:
  Step<> start_engine();
  Step<> start_foreign();
  Step<> await_foreign(std::uint16_t port);
  void stop_foreign();
  Part& part() const { return processes_.server; }

  TrialProcesses& processes_;
  const ServerOrder& order_;
  CommandValues values_;
  std::string address_;
  ServerResult result_;
};

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
