// SPDX-License-Identifier: MIT
#include "cli/hosts/joining.hpp"

#include <algorithm>
#include <array>

#include "cli/common/version.hpp"
#include "cli/hosts/mpirun.hpp"
#include "cli/hosts/processes.hpp"
#include "hosts/agent.hpp"
#include "net/stop.hpp"

namespace joust {
namespace {

constexpr std::array<std::string_view, 2> kOnHosts{"load", "race"};

}  // namespace

std::optional<int> join_hosts(Program& program) {
  if (program.words.size() < 2 || std::ranges::find(kOnHosts, program.words[1]) == kOnHosts.end())
    return std::nullopt;
  const auto rank = hosts::take_rank();
  if (!rank) return std::nullopt;
  if (rank->relay < 0) become_relay(program);
  static Stop& stop = *new Stop;  // never destroyed: a signal may come until the process is gone
  end_loads_at_signals(&stop);
  if (rank->rank > 0) {
    HostedProcesses processes(version_of(program), stop);
    return hosts::serve_requests(*rank, processes.handlers(),
                                 [&](int socket) { processes.collect_until_readable(socket); });
  }
  program.rank = rank;
  return std::nullopt;
}

}  // namespace joust
