// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "cli/hosts/layout.hpp"
#include "joust/load_plan.hpp"

namespace joust {

// A part of a load of several hosts, as the conductor passes it to one of the processes that load
// (--load-part). The other arguments are those of the whole load.
struct LoadPartArguments {
  std::uint64_t first_connection = 0, connections = 0, all_connections = 0;
  std::string connect{}, json{};

  std::string text() const;  // as JSON
  void apply_to(LoadPlan& plan) const;
};

std::optional<LoadPartArguments> part_from(const std::string& text);

// The options of a load over several hosts.
struct HostsArguments {
  std::string hosts{}, serve{}, layout{}, start_at{}, part{};
  bool dry_run = false;

  void add_to(Command command);
  // Returns the hosts by rank; none where mpirun has started this process without names. Throws UsageError.
  std::vector<std::string> names() const;
  // Returns which of so many hosts serve, and which load. Throws UsageError.
  Layout layout_of(std::size_t count, std::uint64_t connections) const;
  // Returns whether the command is a load over several hosts, and this process is no part of it.
  bool conducts(const Program& program) const { return part.empty() && (!hosts.empty() || program.rank); }
  // Throws UsageError if an option is given that only a load over several hosts has.
  void ensure_unused() const {
    if (!serve.empty() || !layout.empty() || dry_run)
      throw UsageError("--serve, --layout and --dry-run need --hosts");
  }
};

}  // namespace joust
