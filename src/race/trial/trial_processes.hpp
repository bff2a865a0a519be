// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/syscall_counter.hpp"
#include "net/stop.hpp"
#include "race/trial/child.hpp"
#include "race/trial/side_failure.hpp"
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

}  // namespace joust::race
