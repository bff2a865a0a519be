// SPDX-License-Identifier: MIT
#include "race/hosts/restrictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/words.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

std::string why_not_served(const EngineRow& engine) {
  if (!engine.not_public.empty()) return "it serves its own machine only: " + engine.not_public;
  if (!engine.listen.starts_with("127.0.0.1:")) return "its datagrams go to a group of one host";
  return {};
}

std::string why_not_raced(const ProtocolRow& protocol, const Entry& entry) {
  if (entry.contestant.server.transport == "unix") return "a unix socket is reached from its own host only";
  if (!protocol.takes_turns)
    return "its connections cannot rest, so messages would travel while it is measured";
  for (const std::string& option : protocol.options_without_turns)
    if (entry.server_options.contains(option) || entry.client_options.contains(option))
      return fmt::format("with --{} its connections cannot rest", option);
  return {};
}

}  // namespace

void restrict_to_hosts(Catalogue& catalogue) {
  const std::vector<EngineRow>& engines = catalogue.engines;
  for (ProtocolRow& protocol : catalogue.protocols) {
    for (const EngineRow& engine : engines)
      if (std::string reason = why_not_served(engine); !reason.empty() && !engine.in_process)
        protocol.unsupported.emplace(engine.name, "over several hosts: " + reason);
    protocol.objection = [row = protocol, before = protocol.objection](const Entry& entry, const Case& one) {
      if (std::string reason = why_not_raced(row, entry); !reason.empty())
        return "over several hosts: " + reason;
      return before ? before(entry, one) : std::string();
    };
  }
}

std::string why_not_over_hosts(const Scenario& scenario, std::size_t load_hosts) {
  for (const Case& one : scenario.cases) {
    if (one.files)
      return fmt::format(
          "{}: commands that move files are raced on one host only, because both sides are one command",
          one.name);
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

}  // namespace joust::race
