// SPDX-License-Identifier: MIT
#include "hosting/options.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"
#include "connection/tally.hpp"
#include "engines/engine_choice.hpp"
#include "hosting/mismatch.hpp"
#include "net/address.hpp"

namespace joust {
namespace {

using Refusal = std::invalid_argument;

const Engine& known_engine(const std::string& name) {
  if (const Engine* found = find_engine(name)) return *found;
  std::vector<std::string> names;
  for (const Engine* engine : engines()) names.emplace_back(engine->name);
  throw Refusal(fmt::format("no engine '{}'; {}", name, suggestion(name, names)));
}

void check_choice(const std::string& option, const std::string& value,
                  const std::vector<std::string>& choices) {
  if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return;
  throw Refusal(fmt::format("--{}: {}", option,
                            not_allowed(fmt::format("'{}' is not allowed", value), value, choices)));
}

void check_has(const Engine& engine, const Settings& knobs) {
  for (const auto& [name, value] : knobs) {
    const auto knob = std::ranges::find(engine.knobs, name, &Knob::name);
    if (knob == engine.knobs.end()) throw Refusal(fmt::format("engine '{}' has no --{}", engine.name, name));
    if (!knob->any_text) check_choice(name, value, {knob->choices.begin(), knob->choices.end()});
  }
}

void check_serves(const Engine& engine, const Settings& knobs) {
  for (const Knob& knob : engine.knobs)
    if (const auto given = knobs.find(knob.name);
        given != knobs.end() && !knob.for_others.empty() && given->second == knob.for_others)
      throw Refusal(fmt::format("--{} {}: only clients have it, for servers that are not joust's", knob.name,
                                knob.for_others));
}

std::string does_not_fit(const Engine& engine, const Protocol& protocol, std::string_view reason) {
  return fmt::format("engine '{}' with protocol '{}': {}", engine.name, protocol.name, reason);
}

std::vector<Endpoint> resolved(const char* option, const std::string& address, Duration limit) {
  if (const std::string objection = objection_to_address(address); !objection.empty())
    throw Refusal(fmt::format("{} '{}': {}", option, address, objection));
  auto endpoints = resolve_within(limit, address);
  if (!endpoints) throw std::runtime_error(fmt::format("{}: {}", option, describe(endpoints.error())));
  return std::move(*endpoints);
}

}  // namespace

void check_knobs(const Engine& engine, const Settings& knobs, Role role) {
  check_has(engine, knobs);
  if (role == Role::serve) check_serves(engine, knobs);
}

const Engine& checked_engine(const std::string& name, const Settings& knobs, Role role,
                             const Protocol& protocol) {
  const Engine& engine = known_engine(name);
  if (role == Role::serve && !engine.serves)
    throw Refusal(engine.in_process
                      ? fmt::format("engine '{}' cannot serve: it has no sockets, and only loads "
                                    "have a use for it",
                                    name)
                      : fmt::format("engine '{}' only dials: it cannot be a server", name));
  if (role == Role::dial && !engine.dials)
    throw Refusal(fmt::format("engine '{}' only serves: it cannot be a client", name));
  check_knobs(engine, knobs, role);
  if (const std::string reason = mismatch(engine, protocol, role); !reason.empty())
    throw Refusal(does_not_fit(engine, protocol, reason));
  // The availability of a group depends on the interface, so it is checked later, together with the address.
  const bool asks_later = engine.way_of_group != nullptr;
  if (const std::string reason = engine.unavailable && !asks_later ? engine.unavailable() : "";
      !reason.empty())
    throw std::runtime_error(fmt::format("engine '{}' is unavailable: {}", name, reason));
  if (const auto found = unavailable_choice(engine, knobs))
    throw std::runtime_error(fmt::format("engine '{}' is unavailable with --{} {}: {}", name, found->knob,
                                         found->choice, found->reason));
  return engine;
}

EngineOptions with_standards(const Engine& engine, unsigned threads, Wait wait, const Settings& knobs) {
  EngineOptions options{.threads = engine.several_loops ? threads : 1, .wait = wait, .knobs = knobs};
  for (const Knob& knob : engine.knobs) options.knobs.emplace(knob.name, knob.choices.front());
  return options;
}

EngineOptions engine_options(const Engine& engine, unsigned threads, Wait wait, const Settings& knobs) {
  EngineOptions options = with_standards(engine, threads, wait, knobs);
  if (engine.decided == nullptr) return options;
  for (const Knob& knob : engine.knobs) {
    const auto [by, value] = engine.decided(knob.name, options);
    if (by.empty()) continue;
    const std::string name(knob.name);
    if (const auto given = knobs.find(name); given != knobs.end())
      throw Refusal(fmt::format("--{} {} has no effect: with {} it is '{}'; leave it out", name,
                                given->second, by, value));
    options.knobs[name] = value;
  }
  return options;
}

void check_options(const Protocol& protocol, const Settings& given, bool serves, bool loads) {
  for (const auto& [name, value] : given) {
    const auto option = std::ranges::find(protocol.options, name, &ProtocolOption::name);
    if (option == protocol.options.end())
      throw Refusal(fmt::format("protocol '{}' has no --{}", protocol.name, name));
    if (!((serves && option->serves) || (loads && option->loads)))
      throw Refusal(fmt::format("--{} is for the {} of '{}'", name,
                                option->serves ? "server (joust serve)" : "client (joust load)",
                                protocol.name));
    check_choice(name, value, option->choices);
  }
}

void check_effects(const Protocol& protocol, const Settings& given, const Parameters& client,
                   bool in_process) {
  if (!protocol.no_effect) return;
  for (const auto& [name, value] : given) {
    const std::string reason = protocol.no_effect(name, Role::dial, client);
    if (reason.empty()) continue;
    const auto option = std::ranges::find(protocol.options, name, &ProtocolOption::name);
    const bool serves = in_process && option != protocol.options.end() && option->serves;
    if (serves && protocol.no_effect(name, Role::serve, client).empty()) continue;
    throw Refusal(fmt::format("--{} has no effect on the client: {}", name, reason));
  }
}

std::string payload_unused(const Protocol& protocol, const Parameters& client) {
  if (!protocol.no_payload.empty()) return protocol.no_payload;
  return protocol.payload_unused ? protocol.payload_unused(client) : std::string();
}

void check_demands(const Engine& engine, const Protocol& protocol, const Parameters& parameters,
                   const LoadPlan* plan) {
  if (!protocol.demands) return;
  if (const std::string reason = mismatch(engine, protocol.demands(parameters, plan)); !reason.empty())
    throw Refusal(does_not_fit(engine, protocol, reason));
}

void check_long_work(const Engine& engine, const Protocol& protocol, const Parameters& parameters,
                     const Settings& given) {
  if (!protocol.demands || engine.own_threads) return;
  const std::string option = protocol.demands(parameters, nullptr).long_work;
  if (option.empty() || given.contains(option)) return;
  throw Refusal(
      fmt::format("--public: with engine '{0}' all other peers wait while the request of one computes, for "
                  "up to {2} here; say --{1} 1ms, or --{1} {2} if nobody who can connect does harm, "
                  "or take the engine 'threads'",
                  engine.name, option, parameters.option(option)));
}

void check_threads(const Engine& engine, std::uint64_t threads) {
  check_between("-t,--threads", threads, engine.least_threads, kMostThreads);
}

void check_connections(const Engine& engine, std::uint64_t threads, std::uint64_t connections) {
  if (const std::string reason = mismatch(engine, threads, connections); !reason.empty())
    throw Refusal(fmt::format("engine '{}': {}", engine.name, reason));
}

void check_payload(const Engine& engine, const Protocol& protocol, std::size_t payload) {
  if (!protocol.no_payload.empty() && payload != Parameters{}.payload)
    throw Refusal(fmt::format("--payload: of protocol '{}', {}", protocol.name, protocol.no_payload));
  if (payload < protocol.least_payload || payload > protocol.largest_payload)
    throw Refusal(fmt::format("--payload: protocol '{}' takes {} to {} bytes", protocol.name,
                              protocol.least_payload, protocol.largest_payload));
  if (const std::string reason = payload_mismatch(engine, protocol, payload); !reason.empty())
    throw Refusal(fmt::format("--payload: engine '{}': {}", engine.name, reason));
}

void check_between(const char* option, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value < least || value > most)
    throw Refusal(fmt::format("{}: {} is not between {} and {}", option, value, least, most));
}

void check_load(const LoadPlan& plan, GivenIn place) {
  if (const auto problem = objection_to(plan, place)) throw Refusal(*problem);
}

ServerTrust trust_of(const LoadPlan& plan, const std::string& connect) {
  return {.name = plan.tls_name.empty() ? host_of(connect) : plan.tls_name,
          .ca_file = plan.tls_ca,
          .verified = !plan.tls_insecure};
}

void check_tls(const LoadPlan& plan, const Engine& engine, const std::string& connect) {
  if (const std::string reason = tls_mismatch(plan, nullptr, &engine); !reason.empty())
    throw Refusal(fmt::format("--tls with engine '{}': {}", engine.name, reason));
  if (plan.tls && !plan.tls_insecure && plan.tls_name.empty() && host_of(connect).empty())
    throw Refusal(fmt::format("--tls: {} has no name that a certificate is for: say --tls-name", connect));
  if (plan.tls) check_trust(trust_of(plan, connect));
}

void check_reconnect(const LoadPlan& plan, const Engine& engine, const Protocol& protocol) {
  const char* const option = plan.messages_per_connection ? "--messages-per-connection"
                             : plan.reconnects()          ? "--reconnect"
                                                          : nullptr;
  if (option == nullptr) return;
  if (engine.in_process)
    throw Refusal(fmt::format("engine '{}' has no sockets: leave {} out", engine.name, option));
  if (const std::string reason = reconnect_mismatch(plan, &engine, protocol); !reason.empty())
    throw Refusal(fmt::format("protocol '{}' with {}: {}", protocol.name, option, reason));
}

namespace {

// Checks the address of an engine that sends to a group: it must be a single group, and datagrams to it must
// arrive.
bool is_local_group(const char* option, const std::string& address, const std::vector<Endpoint>& endpoints,
                    const Engine& engine, const Settings& knobs) {
  if (endpoints.size() != 1 || !is_group(endpoints.front()))
    throw Refusal(fmt::format(
        "{} {}: engine '{}' needs a group of IPv4 multicast, 224.0.0.0 to 239.255.255.255 (such as {})",
        option, address, engine.name, engine.group));
  const GroupWay way = engine.way_of_group(endpoints.front(), knobs);
  if (!way.wrong_knob.empty()) throw Refusal(way.wrong_knob);
  if (!way.obstacle.empty()) throw Skipped(way.obstacle);
  return way.is_local;
}

}  // namespace

namespace {

void refuse_strangers(const Engine& engine, const std::string& option) {
  if (engine.not_public.empty()) return;
  throw Refusal(fmt::format(
      "{}: engine '{}' serves this machine only: {}; take another engine, or an address of loopback", option,
      engine.name, engine.not_public));
}

}  // namespace

std::vector<Endpoint> checked_listen(const std::string& address, bool is_public, const Engine& engine,
                                     const Settings& knobs) {
  std::vector<Endpoint> endpoints = resolved("--listen", address, Limits{}.resolve);
  if (engine.way_of_group != nullptr) {
    if (!is_local_group("--listen", address, endpoints, engine, knobs) && !is_public)
      throw Refusal(fmt::format(
          "--listen {}: other machines could reach this group on interface {}; --public allows it", address,
          knobs.at("interface")));
    return endpoints;
  }
  // Answers would have the address that the way back prefers, and peers drop answers from another address
  // than the one they asked.
  if (engine.transport == Transport::datagram && std::ranges::any_of(endpoints, is_wildcard))
    throw Refusal(
        fmt::format("--listen {}: name the address that peers use: a UDP socket of all addresses of "
                    "this machine may answer from another one",
                    address));
  const bool is_reachable = !std::ranges::all_of(endpoints, is_local);
  if (is_reachable || is_public) refuse_strangers(engine, is_public ? "--public" : "--listen " + address);
  if (is_reachable && !is_public)
    throw Refusal(
        fmt::format("--listen {}: other machines could reach this address; --public allows it", address));
  return endpoints;
}

void check_connect(const std::string& address, const Engine& engine) {
  if (address.empty() && !engine.in_process) throw Refusal("--connect ADDRESS is missing: whom to load?");
  if (!address.empty() && engine.in_process)
    throw Refusal(fmt::format("engine '{}' has no sockets: leave --connect out", engine.name));
  if (means_every_address(address))
    throw Refusal(fmt::format("--connect '{}': * is every address of a server's machine; name one", address));
}

std::vector<Endpoint> resolved_target(const std::string& address, Duration resolve_limit,
                                      const char* option) {
  std::vector<Endpoint> endpoints = resolved(option, address, resolve_limit);
  if (endpoints.front().family() != AF_UNIX && port_of(endpoints.front()) == 0)
    throw Refusal(fmt::format("{} '{}': the port is 0; give the port of the server", option, address));
  return endpoints;
}

std::vector<Endpoint> resolved_target(const std::string& address, Duration resolve_limit,
                                      const Engine& engine, const Settings& knobs) {
  std::vector<Endpoint> endpoints = resolved_target(address, resolve_limit);
  if (engine.way_of_group != nullptr)
    static_cast<void>(is_local_group("--connect", address, endpoints, engine, knobs));
  return endpoints;
}

void settle_socket(SocketOptions& options, bool congestion_chosen, const Endpoint& endpoint,
                   Transport transport, Tally& tally) {
  if (transport == Transport::datagram && endpoint.family() == AF_UNIX)
    throw Refusal(
        fmt::format("{}: the engine's sockets are of UDP, which has no paths; give an address with a "
                    "port, like 127.0.0.1:9000",
                    to_text(endpoint)));
  if (transport == Transport::datagram || endpoint.family() == AF_UNIX) return;
  const std::string reason = congestion_refused(options.congestion, endpoint.family());
  if (reason.empty()) return;
  if (congestion_chosen) throw Refusal(fmt::format("--congestion {}: {}", options.congestion, reason));
  tally.note(
      fmt::format("congestion control is the machine's default, not {}: {}", options.congestion, reason));
  options.congestion.clear();
}

}  // namespace joust
