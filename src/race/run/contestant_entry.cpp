// SPDX-License-Identifier: MIT
#include "race/run/contestant_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "race/run/entry_options.hpp"

namespace joust::race {
namespace {

// Looks only at knobs that were given: by default no engine has such threads.
bool has_kernel_threads(const EngineChoice& choice, const Catalogue& catalogue) {
  const EngineRow* row = catalogue.engine(choice.engine);
  const auto makes_one = [&](const KnobRow& knob) {
    const auto given = choice.knobs.find(knob.name);
    return given != choice.knobs.end() && !given->second.empty() && given->second == knob.kernel_thread;
  };
  return row != nullptr && std::ranges::any_of(row->knobs, makes_one);
}

// Describes the first given choice that cannot be had on this machine, with the reason. Empty if all can be
// had.
std::string unavailable_knob(const EngineRow& engine, const Settings& knobs) {
  for (const KnobRow& knob : engine.knobs) {
    const auto given = knobs.find(knob.name);
    const auto found = given == knobs.end() ? knob.unavailable.end() : knob.unavailable.find(given->second);
    if (found != knob.unavailable.end())
      return fmt::format("{}={}: {}", knob.name, found->first, found->second);
  }
  return {};
}

// Returns the bytes of other cases of the race in the same place whose files fit.
std::uint64_t room_beside(const Scenario& scenario, const FilePlan& files,
                          const std::function<bool(const FilePlan&)>& fits) {
  std::set<FilePlan> others;
  for (const Case& one : scenario.cases)
    if (one.files && *one.files != files && one.files->on == files.on) others.insert(*one.files);
  std::uint64_t bytes = 0;
  for (const FilePlan& other : others)
    if (fits(other)) bytes += room_for(other);
  return bytes;
}

std::string why_no_room(const FilePlan& files, const Scenario& scenario, const Catalogue& catalogue) {
  if (!catalogue.no_room) return {};
  const auto fits = [&](const FilePlan& other) { return catalogue.no_room(other, 0).empty(); };
  return catalogue.no_room(files, room_beside(scenario, files, fits));
}

// Times a whole command: neither of joust's engines is part of it.
Entry files_entry(Entry entry, std::string no_room) {
  if (entry.unavailable.empty()) entry.unavailable = std::move(no_room);
  entry.server_tcp = entry.client_tcp = false;
  return entry;
}

}  // namespace

std::string why_not(const EngineChoice& choice, Side side, const ProtocolRow* protocol,
                    const Catalogue& catalogue) {
  const std::string& engine = choice.engine;
  if (protocol != nullptr) {
    const auto& unsupported = side == Side::server ? protocol->unsupported : protocol->unsupported_clients;
    if (const auto found = unsupported.find(engine); found != unsupported.end()) return found->second;
  }
  const EngineRow* row = catalogue.engine(engine);
  if (row == nullptr) return {};
  const std::string reason =
      row->unavailable.empty() ? unavailable_knob(*row, choice.knobs) : row->unavailable;
  if (reason.empty()) return {};
  return side == Side::server ? fmt::format("unavailable: {}", reason)
                              : fmt::format("unavailable: client {}: {}", engine, reason);
}

Entry contestant_entry(const Contestant& contestant, const Case& one, const Scenario& scenario,
                       const Catalogue& catalogue) {
  const ProtocolRow* const protocol = catalogue.protocol(one.protocol);
  Entry entry{.contestant = contestant};
  if (const EngineRow* row = catalogue.engine(contestant.server.engine); row != nullptr && row->several_loops)
    entry.contestant.server.threads = one.server_threads.value_or(contestant.server.threads);
  if (!contestant.external()) {
    const EngineRow* const server = catalogue.engine(contestant.server.engine);
    entry.unavailable = why_not(contestant.server, Side::server, protocol, catalogue);
    entry.server_polled = has_kernel_threads(contestant.server, catalogue);
    entry.server_forks = server != nullptr && server->separate_processes;
    entry.server_tcp = server == nullptr || server->tcp;
    if (server != nullptr) entry.listen = server->listen;
  }
  for (const std::string& program : contestant.needs)
    if (catalogue.has_program && !catalogue.has_program(program))
      entry.unavailable = fmt::format("unavailable: {} is not installed", program);
  if (one.files && entry.unavailable.empty() && catalogue.no_transfer)
    entry.unavailable = catalogue.no_transfer(contestant.command, contestant.transfer);
  if (one.files) return files_entry(std::move(entry), why_no_room(*one.files, scenario, catalogue));
  entry.client_polled = has_kernel_threads(contestant.client, catalogue);
  const bool over_unix = contestant.server.transport == "unix";
  if (over_unix) entry.listen = kUnixSocket;
  const EngineRow* const client = catalogue.engine(contestant.client.engine);
  entry.client_forks = client != nullptr && client->separate_processes;
  entry.client_tcp = client == nullptr || client->tcp;
  if (over_unix) entry.server_tcp = entry.client_tcp = false;
  if (entry.unavailable.empty())
    entry.unavailable = why_not(contestant.client, Side::client, protocol, catalogue);
  if (entry.unavailable.empty() && protocol != nullptr && protocol->objection) {
    add_options(entry, one, catalogue);
    entry.unavailable = protocol->objection(entry, one);
  }
  return entry;
}

}  // namespace joust::race
