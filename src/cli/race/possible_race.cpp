// SPDX-License-Identifier: MIT
#include "cli/race/possible_race.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "base/fields.hpp"
#include "base/system/sockets.hpp"
#include "cli/common/descriptors.hpp"
#include "cli/common/side_arguments.hpp"
#include "engines/engine.hpp"
#include "hosting/mismatch.hpp"
#include "hosting/options.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"
#include "plugins/plugin_file.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust {
namespace {

// Returns whether a program is installed. Servers are in folders for the system's administrator, which are
// not in every user's PATH.
bool is_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  const std::string folders = std::string(path == nullptr ? "" : path) + ":/usr/local/sbin:/usr/sbin";
  for (std::string_view left = folders; !left.empty();) {
    const std::size_t end = std::min(left.find(':'), left.size());
    const std::string folder(left.substr(0, end));
    if (!folder.empty() && ::access((folder + '/' + program).c_str(), X_OK) == 0) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

// Returns why the knobs of a client do not suit a server of joust.
std::string mismatch_of_knobs(const Engine& client, const Settings& knobs) {
  for (const Knob& knob : client.knobs)
    if (const auto given = knobs.find(knob.name);
        given != knobs.end() && !knob.for_others.empty() && given->second == knob.for_others)
      return fmt::format("unsupported: --{} {} of the client is for servers that are not joust's", knob.name,
                         knob.for_others);
  return {};
}

// Returns why the engines of a contestant cannot support their options with this load: "unsupported: ...".
// Empty if they can.
std::string unmet_demands(const Protocol& protocol, const race::Entry& entry, const race::Case& one) {
  const LoadPlan load = one.load_at_some_rate();
  const Engine* const client = find_engine(entry.contestant.client.engine);
  const Engine* const server = find_engine(entry.contestant.server.engine);  // null: an external command
  std::string reason = tls_mismatch(load, server, client);
  if (reason.empty()) reason = reconnect_mismatch(load, client, protocol);
  if (reason.empty() && server != nullptr)
    reason = mismatch(*server, entry.contestant.server.threads, load.connections);
  if (reason.empty() && client != nullptr)
    reason = mismatch(*client, entry.contestant.client.threads, load.connections);
  if (reason.empty() && server != nullptr && client != nullptr) reason = mismatch(*server, *client);
  if (reason.empty() && server != nullptr && client != nullptr)
    reason = mismatch_of_knobs(*client, entry.contestant.client.knobs);
  if (reason.empty() && client != nullptr)
    reason = payload_mismatch(*client, protocol, load.payload.value_or(Parameters{}.payload));
  if (!reason.empty() || !protocol.demands) return reason;
  const Demands of_client =
      protocol.demands(parameters_of(protocol, entry.client_options, Role::dial), &load);
  if (server != nullptr) {
    const Parameters serving = parameters_of(protocol, entry.server_options, Role::serve);
    reason = mismatch(*server, protocol.demands(serving, nullptr));
  }
  if (reason.empty() && client != nullptr) reason = mismatch(*client, of_client);
  return reason;
}

race::ProtocolRow protocol_row(const Protocol& protocol) {
  race::ProtocolRow row{.protocol = &protocol,
                        .objection = [&protocol](const race::Entry& entry, const race::Case& one) {
                          return unmet_demands(protocol, entry, one);
                        }};
  for (const Engine* engine : engines())
    for (const Role role : {Role::serve, Role::dial})
      if (std::string reason = mismatch(*engine, protocol, role); !reason.empty())
        (role == Role::serve ? row.unsupported : row.unsupported_clients)
            .emplace(engine->name, std::move(reason));
  return row;
}

}  // namespace

race::Catalogue catalogue_of(const Program& program) {
  race::Catalogue catalogue;
  catalogue.has_program = is_installed;
  catalogue.no_room = race::no_room_for;
  for (const Engine* engine : engines()) catalogue.engines.push_back({.engine = engine});
  for (const Protocol& protocol : program.protocols) catalogue.protocols.push_back(protocol_row(protocol));
  for (const Protocol* plugin : loaded_plugins()) catalogue.plugins->push_back(protocol_row(*plugin));
  catalogue.load_plugin =
      [rows = catalogue.plugins](
          const std::string& file) -> std::expected<const race::ProtocolRow*, std::string> {
    const auto plugin = load_plugin(file);
    if (!plugin) return std::unexpected(plugin.error());
    for (const race::ProtocolRow& row : *rows)
      if (row.protocol->plugin == (*plugin)->plugin) return &row;
    return &rows->emplace_back(protocol_row(**plugin));
  };
  return catalogue;
}

namespace {

void check_client(const Protocol& protocol, const race::Case& one, const race::Entry& entry) {
  if (!entry.is_contestant() || !entry.unavailable.empty()) return;
  const Parameters client = parameters_of(protocol, entry.client_options, Role::dial);
  if (protocol.check_client) protocol.check_client(client, one.load_at_some_rate());
  if (const std::string unused = payload_unused(protocol, client); !unused.empty() && one.load.payload)
    throw UsageError("payload (or --payload) has no effect: " + unused);
}

// Finds the options of one scenario that have no effect. An option may be a contestant's own, or a case's,
// which both sides get. It must have an effect at one place at least.
class Effects {
 public:
  void look_at(const std::string& who, const std::string& option, const std::string& reason) {
    std::string& why = reasons_.try_emplace({who, option}, reason).first->second;
    if (reason.empty()) why.clear();
  }
  void check() const {
    for (const auto& [words, why] : reasons_)
      if (!why.empty())
        throw UsageError(
            fmt::format("{}--{} has no effect: {}; leave it out", words.first, words.second, why));
  }

 private:
  std::map<std::pair<std::string, std::string>, std::string> reasons_;
};

void look_at(const race::Case& one, const race::Entry& entry, const Protocol& protocol, Effects& effects) {
  const Parameters client = parameters_of(protocol, entry.client_options, Role::dial);
  const std::string server = fmt::format("'{}': ", entry.contestant.name);
  for (const auto& [option, value] : entry.contestant.server.options)
    effects.look_at(server, option, protocol.no_effect(option, Role::serve, client));
  for (const auto& [option, value] : entry.contestant.client.options)
    effects.look_at("the client of " + server, option, protocol.no_effect(option, Role::dial, client));
  for (const auto& [option, value] : one.options) {
    const bool has = entry.server_options.contains(option) || entry.client_options.contains(option);
    effects.look_at("", option, has ? "" : protocol.no_effect(option, Role::serve, client));
  }
}

void check_effects(const Program& program, const race::Plan& plan) {
  Effects effects;
  for (const race::CaseResult& one : plan.cases) {
    if (one.plan.files) continue;
    const Protocol& protocol = resolve_protocol(program, one.plan.protocol);
    for (const race::Entry& entry : one.entries)
      if (protocol.no_effect && entry.is_contestant()) look_at(one.plan, entry, protocol, effects);
  }
  effects.check();
}

Wait wait_of(const EngineChoice& choice) {
  return value_of_word<Wait>(choice.wait).value_or(Wait::block);
}

// Refuses knobs that the process of this side would refuse.
void check_engine(const EngineChoice& choice, Role role) {
  const Engine* const engine = find_engine(choice.engine);
  if (engine == nullptr) return;  // an external command
  check_knobs(*engine, choice.knobs, role);
  static_cast<void>(
      engine_options(*engine, static_cast<unsigned>(choice.threads), wait_of(choice), choice.knobs));
}

void check_engines(const race::Entry& entry) {
  if (!entry.is_contestant() || !entry.unavailable.empty()) return;
  try {
    check_engine(entry.contestant.server, Role::serve);
    check_engine(entry.contestant.client, Role::dial);
  } catch (const std::invalid_argument& refused) {
    throw UsageError(fmt::format("'{}': {}", entry.contestant.name, refused.what()));
  }
}

}  // namespace

void ensure_possible(const Program& program, const race::Scenario& scenario, const race::Plan& plan) {
  check_effects(program, plan);
  const std::string where = scenario.file.empty() ? "-c" : scenario.file + ": connections (or -c)";
  const std::string swept = scenario.file.empty() ? "--sweep" : scenario.file + ": sweep (or --sweep)";
  for (const race::CaseResult& one : plan.cases) {
    if (one.plan.files) continue;
    const std::string congestion = one.plan.socket.congestion.value_or("");
    if (const std::string refused = congestion_refused(congestion, AF_INET); !refused.empty())
      throw UsageError(fmt::format("{}: congestion '{}': {}", scenario.file, congestion, refused));
    const bool by_sweep = one.plan.point && one.plan.point->axis == "connections";
    const Protocol& protocol = resolve_protocol(program, one.plan.protocol);
    // Servers of a race are on loopback, and have its address for a name.
    if (one.plan.load.tls) check_trust(trust_of(one.plan.load, "127.0.0.1:0"));
    for (const race::Entry& entry : one.entries) {
      const Engine* const client = find_engine(entry.contestant.client.engine);
      const bool runs = client != nullptr && entry.unavailable.empty();
      ensure_descriptors(by_sweep ? swept : where, one.plan.load.connections, runs ? *client : Engine{});
      check_engines(entry);
      check_client(protocol, one.plan, entry);
    }
  }
}

void require_loopback(const race::Plan& plan) {
  if (std::ranges::all_of(plan.cases, [](const race::CaseResult& one) { return one.plan.files.has_value(); }))
    return;
  const Fd probe = datagram_socket(AF_INET, 0);
  const auto loopback = resolve("127.0.0.1:9");
  if (loopback && ::connect(probe.get(), loopback->front().raw(), loopback->front().size) < 0 &&
      errno == ENETUNREACH)
    throw std::runtime_error(
        "the loopback device is down, by which servers and loads of a race are connected: ip link set lo up");
}

void require_contestant(const race::Plan& plan) {
  std::string reasons;
  for (const race::CaseResult& one : plan.cases)
    for (const race::Entry& entry : one.entries) {
      if (!entry.is_contestant()) continue;
      if (entry.unavailable.empty()) return;
      if (&one == &plan.cases.front())
        reasons += fmt::format("\n  {}: {}", entry.contestant.name, entry.unavailable);
    }
  throw std::runtime_error("no contestant can run here:" + reasons);
}

}  // namespace joust
