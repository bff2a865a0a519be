// SPDX-License-Identifier: MIT
#include "cli/hosts/joining.hpp"

#include <algorithm>
#include <array>

#include "cli/common/output.hpp"
#include "cli/hosts/mpirun.hpp"
#include "cli/hosts/processes.hpp"
#include "hosts/agent.hpp"
#include "net/stop.hpp"

namespace joust {
namespace {

constexpr std::array<std::string_view, 2> kOnHosts{"load", "race"};
constexpr const char* kHowToMakeKey =
    "this mpirun has passed on no key, and without one any user of its hosts could give orders to the run: "
    "export JOUST_HOSTS_KEY=$(openssl rand -hex 32), and say mpirun -x JOUST_HOSTS_KEY";

}  // namespace

std::optional<int> join_hosts(Program& program) {
  if (program.words.size() < 2 || std::ranges::find(kOnHosts, program.words[1]) == kOnHosts.end())
    return std::nullopt;
  const auto rank = hosts::take_rank();
  if (!rank) return std::nullopt;
  if (rank->relay < 0) become_relay(program);
  if (rank->rank == 0 && !hosts::Seal::is_key(rank->key)) throw UsageError(kHowToMakeKey);
  stop_at_signals();
  if (rank->rank > 0) {
    HostedProcesses processes(version_of(program), stop_of_hosts());
    return hosts::serve_requests(*rank, processes.handlers(),
                                 [&](int socket) { processes.collect_until_readable(socket); });
  }
  program.rank = rank;
  return std::nullopt;
}

}  // namespace joust
