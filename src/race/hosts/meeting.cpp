// SPDX-License-Identifier: MIT
#include "race/hosts/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "measure/affinity.hpp"
#include "measure/environment.hpp"
#include "measure/proc_file.hpp"
#include "race/hosts/side_json.hpp"
#include "race/model/result.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {

namespace {

constexpr Duration kForReport = std::chrono::seconds(20);  // the program's own file is read

std::expected<std::string, std::string> address_of(const NetworkPlace& place) {
  if (!place.fabric.empty()) return address_in(place.fabric);
  if (place.towards.empty()) return place.address.empty() ? "127.0.0.1" : place.address;
  std::string address = address_towards(place.towards);
  if (address.empty()) return std::unexpected("this host has no route to " + place.towards);
  return address;
}

}  // namespace

std::expected<HostReport, std::string> report_of_this_host(const NetworkPlace& place) {
  const auto address = address_of(place);
  if (!address) return std::unexpected(address.error());
  const auto network = interface_with(*address);
  if (!network) return std::unexpected("no interface of this host has the address " + *address);
  return HostReport{
      .machine = host_name(),
      .boot_id = std::string(trimmed(read_proc_file("/proc/sys/kernel/random/boot_id").value_or(""))),
      .address = *address,
      .network = *network,
      .round_trip = place.towards.empty() ? std::nullopt : round_trip_to(place.towards),
      .environment = read_environment(),
      .cpus = read_topology(allowed_cpus())};
}

std::expected<HostReport, std::string> ask_for_report(HostLink& host, const NetworkPlace& place) {
  auto report = step_of<HostReport>(host.name(), host.call({{"do", "host"}, {"place", place}}, kForReport));
  if (!report) return std::unexpected(std::move(report.error().what));
  return std::move(*report);
}

namespace {

std::string why_not_served(const Engine& engine) {
  if (!engine.not_public.empty()) return fmt::format("it serves its own machine only: {}", engine.not_public);
  if (!engine.group.empty()) return "its datagrams go to a group of one host";
  return {};
}

std::string why_not_raced(const Protocol& protocol, const Entry& entry) {
  if (entry.contestant.server.transport == "unix") return "a unix socket is reached from its own host only";
  if (!protocol.takes_turns)
    return "its connections cannot rest, so messages would travel while it is measured";
  for (const std::string& option : protocol.options_without_turns)
    if (entry.server_options.contains(option) || entry.client_options.contains(option))
      return fmt::format("with --{} its connections cannot rest", option);
  return {};
}

// A command moves files between a folder of its own host and one of the server's.
std::string why_not_moved(const std::string& server, const std::string& transfer) {
  if (server.empty()) return "it has no server, so both of its folders are on one host";
  if (has_place(transfer, "from") && has_place(transfer, "into"))
    return "its transfer uses {from} and {into}, and one of them is on the host of its server";
  for (const std::string& command : {server, transfer})
    if (command.contains("127.0.0.1")) return "it names 127.0.0.1, and other hosts need {address}";
  return {};
}

}  // namespace

void restrict_to_hosts(Catalogue& catalogue) {
  catalogue.no_transfer = [](const std::string& server, const std::string& transfer) {
    const std::string reason = why_not_moved(server, transfer);
    return reason.empty() ? reason : "over several hosts: " + reason;
  };
  for (ProtocolRow& row : catalogue.protocols) {
    for (const EngineRow& one : catalogue.engines)
      if (std::string reason = why_not_served(*one.engine); !reason.empty() && !one.engine->in_process)
        row.unsupported.emplace(one.engine->name, "over several hosts: " + reason);
    row.objection = [protocol = row.protocol, before = row.objection](const Entry& entry, const Case& one) {
      if (std::string reason = why_not_raced(*protocol, entry); !reason.empty())
        return "over several hosts: " + reason;
      return before ? before(entry, one) : std::string();
    };
  }
}

std::string why_not_over_hosts(const Scenario& scenario, std::size_t load_hosts, bool server_loads) {
  for (const Case& one : scenario.cases) {
    if (one.files) {
      if (server_loads)
        return fmt::format("{}: a command moves files to another host, and the host of the server loads too",
                           one.name);
      if (load_hosts == 1) continue;
      return fmt::format("{}: a command that moves files runs on one host, and {} would load", one.name,
                         load_hosts);
    }
    if (load_hosts > 1 && (one.protocol == "broadcast" || one.protocol == "file"))
      return fmt::format(
          "{}: the connections of '{}' depend on one another, so one host makes the whole load", one.name,
          one.protocol);
    if (one.load.connections < load_hosts)
      return fmt::format("{}: {} for {} that load: each needs one", one.name,
                         counted(one.load.connections, "connection"), counted(load_hosts, "host"));
  }
  return {};
}

namespace {

constexpr const char* kBuild = "program_xxh3_128";

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

// Returns why a host cannot take part beside the first one; empty if it can.
std::string why_another_build(const HostOfRace& first, const HostOfRace& other) {
  const std::string_view here = first.environment.value(kBuild), there = other.environment.value(kBuild);
  if (here == there) return {};
  return fmt::format(
      "{} runs joust {} and {} runs joust {}, which are different builds ({} and {}): install the same on "
      "all hosts",
      first.name, first.environment.value("joust_version"), other.name,
      other.environment.value("joust_version"), here, there);
}

std::expected<void, std::string> add(HostLink& link, const char* side, const NetworkPlace& place,
                                     Meeting& meeting) {
  auto report = ask_for_report(link, place);
  if (!report) return std::unexpected(report.error());
  HostOfRace host{.name = link.name(),
                  .machine = std::move(report->machine),
                  .boot_id = std::move(report->boot_id),
                  .side = side,
                  .address = std::move(report->address),
                  .network = std::move(report->network),
                  .environment = std::move(report->environment)};
  if (report->round_trip) host.round_trip_s = seconds(*report->round_trip);
  meeting.facts.push_back(std::move(host));
  meeting.cpus.push_back(std::move(report->cpus));
  if (std::string why = why_another_build(meeting.facts.front(), meeting.facts.back()); !why.empty())
    return std::unexpected(std::move(why));
  return {};
}

RaceHost host_of(HostLink& link, const HostOfRace& facts) {
  return {.link = &link,
          .boot_id = facts.boot_id,
          .address = facts.address,
          .is_answered = facts.round_trip_s.has_value()};
}

}  // namespace

std::expected<Meeting, std::string> meet(HostLink& server, const std::vector<HostLink*>& loads,
                                         const NetworkPlace& place) {
  Meeting meeting;
  if (auto added = add(server, "server", place, meeting); !added) return std::unexpected(added.error());
  meeting.hosts.server = host_of(server, meeting.facts.front());
  for (HostLink* load : loads) {
    if (auto added = add(*load, "load", {.towards = meeting.hosts.server.address}, meeting); !added)
      return std::unexpected(added.error());
    meeting.hosts.loads.push_back(host_of(*load, meeting.facts.back()));
  }
  return meeting;
}

std::optional<std::string> missing_cpus(const Meeting& meeting, const CpuPlan& plan) {
  for (std::size_t i = 0; i < meeting.facts.size(); ++i) {
    std::vector<int> allowed;
    for (const CpuPlace& place : meeting.cpus[i]) allowed.push_back(place.cpu);
    const CpuPlan side{.server = i == 0 ? plan.server : "any", .client = i == 0 ? "any" : plan.client};
    if (const auto problem = check_cpus_exist(side, allowed)) return meeting.facts[i].name + ": " + *problem;
  }
  return std::nullopt;
}

CpuPlan place_sides(Meeting& meeting, Scenario& scenario, const Catalogue& catalogue) {
  RaceHost& server = meeting.hosts.server;
  std::vector<RaceHost>& loads = meeting.hosts.loads;
  const std::size_t loops = most_loops(scenario, &Contestant::server);
  const bool together = loads.front().boot_id == server.boot_id;
  choose_client_threads(scenario, catalogue, meeting.cpus[1], together ? loops : 0);
  const CpuPlan of_both = choose_cpus(scenario, meeting.cpus.front());
  bool alone = true;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const bool beside_server = loads[i].boot_id == server.boot_id;
    loads[i].cpus = beside_server
                        ? of_both.client
                        : choose_cpus_alone(scenario.cpus.client, most_loops(scenario, &Contestant::client),
                                            meeting.cpus[i + 1]);
    meeting.facts[i + 1].cpus = loads[i].cpus;
    alone = alone && !beside_server;
  }
  server.cpus = alone ? choose_cpus_alone(scenario.cpus.server, loops, meeting.cpus.front()) : of_both.server;
  meeting.facts.front().cpus = server.cpus;
  return {.server = server.cpus,
          .client = loads.front().cpus,
          .remarks = alone ? std::vector<std::string>{} : of_both.remarks,
          .apart = alone,
          .load_hosts = loads.size()};
}

std::vector<HostOfRace> with_clocks(std::vector<HostOfRace> facts, const HostsRunner& runner) {
  if (runner.clocks().size() < 2) return facts;
  for (std::size_t i = 0; i < runner.clocks().size(); ++i) {
    facts[i + 1].clock_offset_s = seconds(runner.clocks()[i].offset);
    facts[i + 1].clock_error_s = seconds(runner.clocks()[i].error);
    facts[i + 1].begins = runner.begins()[i];
  }
  return facts;
}

}  // namespace joust::race
