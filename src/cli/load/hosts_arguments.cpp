// SPDX-License-Identifier: MIT
#include "cli/load/hosts_arguments.hpp"

#include <nlohmann/json.hpp>

#include "base/limits.hpp"

namespace joust {

std::string LoadPartArguments::text() const {
  return nlohmann::json{{"first", first_connection},
                        {"connections", connections},
                        {"all", all_connections},
                        {"connect", connect},
                        {"json", json}}
      .dump();
}

std::optional<LoadPartArguments> part_from(const std::string& text) {
  try {
    const auto part = nlohmann::json::parse(text);
    LoadPartArguments read{.first_connection = part.at("first"),
                           .connections = part.at("connections"),
                           .all_connections = part.at("all"),
                           .connect = part.at("connect"),
                           .json = part.at("json")};
    if (read.connections == 0 || read.connections > read.all_connections) return std::nullopt;
    return read;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

// The rate is shared by the connections; each keeps its place in the schedule of all.
void LoadPartArguments::apply_to(LoadPlan& plan) const {
  plan.connections = connections;
  plan.rate_per_s *= static_cast<double>(connections) / static_cast<double>(all_connections);
  plan.first_connection = first_connection;
  plan.all_connections = all_connections;
}

void HostsArguments::add_to(Command command) {
  command
      .add_option(
          "--hosts", hosts,
          "load from these hosts together, by Open MPI: the connections and the rate are divided among "
          "them; --json has the whole result")
      .type_name("HOST,HOST...");
  command
      .add_option(
          "--serve", serve,
          "with --hosts: the first host serves with this engine (epoll, io-uring:batch=8), on all its "
          "addresses or on that of --connect; without it all load")
      .type_name("ENGINE");
  command
      .add_option(
          "--layout", layout,
          "with --hosts: which of them serve and load, by rank from 0 on; one that is named twice has "
          "two processes: 'server=1 load=0,2..'")
      .type_name("RANKS");
  command.add_flag("--dry-run", dry_run,
                   "with --hosts: show the command that starts all hosts, and do nothing");
  command
      .add_option("--start-at", start_at,
                  "send the first messages at this time, when all connections are open: 2026-01-31T12:00:00Z "
                  "(UTC), or +5s from now; for the same load on several hosts, whose results 'merge' adds")
      .type_name("TIME");
  command
      .add_option("--load-part", part,
                  "(of joust itself) this process is a part of a load over several hosts")
      .type_name("JSON")
      .group("");
}

std::vector<std::string> HostsArguments::names() const {
  return ranked_hosts(hosts, !layout.empty(), !serve.empty());
}

Layout HostsArguments::layout_of(std::size_t count, std::uint64_t connections) const {
  const bool serves = !serve.empty();
  if (layout.empty()) {
    const std::uint64_t files = descriptor_limit().rlim_max;  // the other hosts are taken to have the same
    return with_servers_for(usual_layout(count, serves), connections, files - files / 8);
  }
  auto given = parse_layout(layout, count);
  if (!given) throw UsageError("--layout: " + given.error());
  if (given->servers.empty() == serves)
    throw UsageError(serves ? "--layout: with --serve it names a server: server=RANK"
                            : "--layout names a server: say --serve ENGINE too");
  return *given;
}

}  // namespace joust
