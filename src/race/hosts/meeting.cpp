// SPDX-License-Identifier: MIT
#include "race/hosts/meeting.hpp"

#include <fmt/format.h>

#include <utility>

#include "race/set_up/placement.hpp"

namespace joust::race {
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
