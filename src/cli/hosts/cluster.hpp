// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "cli/hosts/processes.hpp"
#include "hosts/link.hpp"

namespace joust {

// All hosts of a run, by rank, as the conductor sees them: rank 0 is its own. One thread.
class Cluster {
 public:
  // `names`: by rank; may be empty. Throws std::runtime_error naming the host that does not answer or has
  // another version.
  Cluster(const Program& program, const std::string& version, const std::vector<std::string>& names);

  std::size_t size() const { return links_.size(); }
  HostLink& at(std::size_t rank) { return *links_.at(rank); }
  // Returns "h2", or "rank 2 on NAME" where the hosts have no names of the command line.
  const std::string& name(std::size_t rank) const { return links_.at(rank)->name(); }
  const ClockOffset& clock(std::size_t rank) const { return clocks_.at(rank); }

 private:
  HostedProcesses own_;
  const hosts::Handlers handlers_;
  std::vector<std::unique_ptr<HostLink>> links_{};
  std::vector<ClockOffset> clocks_{};
};

// Finds out whether mpirun has started this process, for a command that works over several hosts. The process
// gets a relay then, and begins anew under it. Rank 0 goes on, to conduct: `program` has its rank, and
// nothing is returned. Every other rank serves the conductor here until the work is over; its exit code is
// returned.
std::optional<int> join_hosts(Program& program);

}  // namespace joust
