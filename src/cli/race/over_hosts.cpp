// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/common/output.hpp"
#include "cli/hosts/layout.hpp"
#include "cli/hosts/mpirun.hpp"
#include "cli/race/command.hpp"
#include "net/address.hpp"
#include "race/run/race.hpp"

namespace joust {
namespace {

// One rank serves, and it is not rank 0: what a conductor does would be in the server's figures.
Layout layout_of(const RaceHostsArguments& arguments, std::size_t hosts) {
  if (arguments.layout.empty()) return usual_layout(hosts, true);
  auto layout = parse_layout(arguments.layout, hosts);
  if (!layout) throw UsageError("--layout: " + layout.error());
  if (layout->servers.size() != 1 || layout->servers.front() == 0)
    throw UsageError(
        "--layout: the servers of a race are on one rank, and not on rank 0, which conducts: server=1");
  std::ranges::sort(layout->loads);
  if (std::ranges::adjacent_find(layout->loads) != layout->loads.end())
    throw UsageError("--layout: a rank makes one part of a race's load");
  return *layout;
}

// Returns the address of a host by the name that the launcher has for it.
std::string address_of(const std::string& name) {
  const auto found = resolve(name + ":1");
  if (!found) return {};
  return host_of(to_text(found->front()));
}

}  // namespace

void RaceHostsArguments::add_to(Command command) {
  const auto group = "Hosts";
  command
      .add_option(
          "--hosts", hosts,
          "race over these hosts, by Open MPI: servers are on the first one, and the others make the load "
          "together; this program is installed on all of them")
      .type_name("HOST,HOST...")
      .group(group);
  command
      .add_option("--layout", layout,
                  "with --hosts: which of them serves and which load, by rank from 0 on: 'server=1 "
                  "load=0,2..'; rank 0 "
                  "conducts")
      .type_name("RANKS")
      .group(group);
  command
      .add_option(
          "--fabric", fabric,
          "with --hosts: the network to be measured, by an interface or a subnet of the server's host "
          "(eth1, 10.1.0.0/16) [that of the host's name]")
      .type_name("NETWORK")
      .group(group);
  command
      .add_option(
          "--lost-host", lost_host,
          fmt::format("with --hosts: a host stops, dies or misses the starts of turns; again: its round "
                      "is refused and run again, {} times in a race; end: the race ends with what it has "
                      "[again]",
                      race::kMostLostRounds))
      .one_of({"again", "end"})
      .group(group);
}

std::optional<int> RaceHostsArguments::start(const Program& program) const {
  if (!conducts(program)) {
    if (!layout.empty() || !fabric.empty() || !lost_host.empty())
      throw UsageError("--layout, --fabric and --lost-host need --hosts");
    return std::nullopt;
  }
  const std::vector<std::string> names = ranked_hosts(hosts, !layout.empty(), true);
  if (!names.empty()) static_cast<void>(layout_of(*this, names.size()));
  if (program.rank) return std::nullopt;
  return run_mpirun(mpirun_words(program, names), names, program);
}

HostsOfRace::HostsOfRace(const Program& program, const RaceHostsArguments& arguments)
    : arguments_(arguments),
      names_(ranked_hosts(arguments.hosts, !arguments.layout.empty(), true)),
      on_one_host_(program.rank && program.rank->on_one_host),
      cluster_(program, version_of(program), names_) {
  if (cluster_.size() < 2)
    throw UsageError(
        "a race over several hosts needs a rank for the servers and one for the load: mpirun -n 2");
}

race::Meeting HostsOfRace::meet() {
  const Layout layout = layout_of(arguments_, cluster_.size());
  std::vector<HostLink*> loads;
  for (const std::size_t rank : layout.loads) loads.push_back(&cluster_.at(rank));
  HostLink& server = cluster_.at(layout.servers.front());
  race::NetworkPlace place{.fabric = arguments_.fabric};
  if (place.fabric.empty() && !on_one_host_) {  // else it is loopback
    place.address = address_of(server.name());
    if (place.address.empty())
      throw UsageError(fmt::format("{}: its address is not known here: say --fabric INTERFACE, or a subnet",
                                   server.name()));
  }
  auto meeting = race::meet(server, loads, place);
  if (!meeting) throw std::runtime_error(meeting.error());
  return std::move(*meeting);
}

}  // namespace joust
