// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hosts/agent.hpp"
#include "net/stop.hpp"
#include "race/hosts/agent.hpp"
#include "race/trial/child.hpp"
#include "race/trial/temporary_folder.hpp"

namespace joust {

// Returns the stop of this process's work over hosts. SIGTERM, SIGINT and SIGHUP request it from
// stop_at_signals() on: the relay sends SIGINT when the work is interrupted, and the kernel SIGTERM when the
// relay dies. Loads then end in order: they write what they have measured. The sides of a race end at once.
Stop& stop_of_hosts();
void stop_at_signals();

// Stands in a request for a folder of the host's own, which nobody else may enter. Files that nobody has
// asked for are there: a name in /tmp that others know beforehand may be a link of theirs.
inline constexpr const char* kFolderOfAgent = "{folder}";

// The processes of joust that the conductor has started on this host, by names that it has given them. They
// are killed at the object's end, and when this process dies. One thread.
class HostedProcesses {
 public:
  // `stop` outlives the object: its request ends loads in order, and the sides of a race. Servers of loads go
  // on: the conductor ends them when the loads have ended.
  HostedProcesses(std::string version, const Stop& stop)
      : version_(std::move(version)), stop_(stop), sides_(stop) {}

  // Returns what the conductor may ask for. This object outlives the handlers.
  //
  //   hello                               the version, the name of this host
  //   clock                               now_ns, on this host's monotonic clock
  //   start id words until patience_ms    starts joust; returns the event, a line of its output
  //   run loads at_ns patience_ms         begins loads (id, file) that hold their start; returns results
  //   stop id patience_ms                 ends a server; returns its last event
  //
  // and what the sides of a race are asked for (race/hosts/agent.hpp).
  hosts::Handlers handlers();

  // Sets what is called once when the work is interrupted while loads of this host run.
  void at_interruption(std::function<void()> call) { at_interruption_ = std::move(call); }

  // Collects the output of all processes, so that none waits for this one, until the socket is readable. May
  // return earlier.
  void collect_until_readable(int socket);

 private:
  using Message = nlohmann::json;

  Message start(const Message& request);
  Message run(const Message& request);
  void await_ends(const std::vector<race::Child*>& running, Time deadline) const;
  Message taken_result(const Message& load, Duration patience);
  Message stop(const Message& request);
  race::Child& named(const Message& request);
  std::string with_folder(std::string text);
  // `stop`: its request ends the wait too; null: none does.
  static std::string await_event(race::Child& child, const std::string& event, Time deadline,
                                 const Stop* stop);

  const std::string version_;
  const Stop& stop_;
  race::SideAgent sides_;
  std::function<void()> at_interruption_{};
  std::optional<race::TemporaryFolder> folder_{};  // kFolderOfAgent, once it is needed
  std::map<std::string, std::unique_ptr<race::Child>> children_{};
};

}  // namespace joust
