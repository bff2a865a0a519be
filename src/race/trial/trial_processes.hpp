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

namespace joust::race {

// One process of a trial, with what is said of it in messages.
struct Part {
  const char* name;  // "the server"
  std::unique_ptr<Child> child{};
  std::optional<SyscallCounter> calls{};
  std::string no_calls{};  // why they are not counted
  std::uint64_t calls_before = 0, calls_after = 0;

  bool running() const { return child && !child->ended(); }
  bool gone() const { return child && child->ended(); }
};

// The two processes of a trial, and waiting for what they say. While one is waited for, the other is listened
// to as well, so that neither ever blocks on a full pipe.
class TrialProcesses {
 public:
  TrialProcesses(const Stop& stop, bool count_calls) : stop_(stop), count_calls_(count_calls) {}

  Part server{.name = "the server"}, load{.name = "the load"};

  void start(Part& part, const ChildCommand& command) const;
  // False when the deadline came first, or the user's interruption.
  bool wait_until(Time deadline, const std::function<bool()>& done) const;
  // The next line of a child that is this event of the child protocol; earlier ones are skipped. Nothing when
  // it does not come in time, or the child has ended without it.
  std::optional<nlohmann::json> next_event(Part& part, std::string_view name, Duration patience) const;
  // Asks what still runs to stop and waits for it, the user's interruption or not: who is killed cannot tidy
  // up after itself. What does not end in time, or before the user insists, is killed by its owner.
  void end(Duration patience) const;

 private:
  std::vector<Child*> children() const;

  const Stop& stop_;
  bool count_calls_;
};

// A line of the child protocol, if it is one; its "event" otherwise empty.
std::string event_name(const nlohmann::json& said);

}  // namespace joust::race
