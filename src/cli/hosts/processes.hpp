// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hosts/agent.hpp"
#include "net/stop.hpp"
#include "race/hosts/agent.hpp"
#include "race/trial/child.hpp"

namespace joust {

// Lets SIGTERM, SIGINT and SIGHUP end the loads of this process in order: they write what they have measured.
// mpirun sends them when it is interrupted, and the kernel when the relay dies. `stop`, which outlives the
// process's last signal, is requested too; it may be null.
void end_loads_at_signals(Stop* stop);

// The processes of joust that the conductor has started on this host, by names that it has given them. They
// are killed at the object's end, and when this process dies. One thread.
class HostedProcesses {
 public:
  // `stop` outlives the object: its request ends the sides of a race in order.
  HostedProcesses(std::string version, const Stop& stop) : version_(std::move(version)), sides_(stop) {}

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
  std::string await_event(race::Child& child, const std::string& event, Time deadline) const;

  const std::string version_;
  race::SideAgent sides_;
  std::map<std::string, std::unique_ptr<race::Child>> children_{};
};

}  // namespace joust
