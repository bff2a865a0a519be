// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "cli/hosts/cluster.hpp"
#include "cli/hosts/layout.hpp"
#include "race/hosts/meeting.hpp"

namespace joust {

// The options of a race over several hosts.
struct RaceHostsArguments {
  std::string hosts{}, layout{}, fabric{}, lost_host{};

  void add_to(Command command);
  // Returns whether the race is over several hosts.
  bool conducts(const Program& program) const { return !hosts.empty() || program.rank; }
  // Checks the arguments, and starts the hosts if mpirun has not done it: then the exit code of the race is
  // returned. Throws UsageError.
  std::optional<int> start(const Program& program) const;
  race::LostHost when_lost() const {
    return lost_host == "end" ? race::LostHost::end : race::LostHost::again;
  }
};

// The hosts of a race, as its conductor sees them. This process is rank 0; it makes the first part of a load.
// One thread.
class HostsOfRace {
 public:
  // REQUIRES: mpirun has started the process. Throws UsageError, or std::runtime_error naming the host that
  // does not answer.
  HostsOfRace(const Program& program, const RaceHostsArguments& arguments);

  race::Meeting meet();

 private:
  const RaceHostsArguments& arguments_;
  const std::vector<std::string> names_;
  const bool on_one_host_;
  Cluster cluster_;
};

}  // namespace joust
