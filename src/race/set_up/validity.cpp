// SPDX-License-Identifier: MIT
#include "race/set_up/validity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace joust::race {
namespace {

std::vector<std::string> engines_of(Role role, const Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const EngineRow& row : catalogue.engines)
    if (!row.engine->in_process && (role == Role::serve ? row.engine->serves : row.engine->dials))
      names.emplace_back(row.engine->name);
  return names;
}

// Names must be unique, for the tables and for the reference.
std::optional<std::string> check_names(const Scenario& scenario) {
  std::set<std::string> names;
  for (const Contestant& contestant : scenario.contestants)
    if (!names.insert(contestant.name).second)
      return fmt::format("two contestants are called '{}': give one another name", contestant.name);
  std::set<std::string> cases;
  for (const Case& one : scenario.cases)
    if (!cases.insert(one.name).second)
      return fmt::format("two cases are called '{}': give one another name", one.name);
  return std::nullopt;
}

// The timeout of a trial must not end before its load does.
std::optional<std::string> check_trial_timeout(const LimitPlan& limits, const LoadPlan& load) {
  if (!limits.trial_timeout) return std::nullopt;
  using Time_s = std::chrono::duration<double>;
  const Time_s least =
      load.messages ? Time_s(load.warmup) + Time_s(pause_of(load)) * static_cast<double>(*load.messages)
                    : Time_s(load.warmup) + Time_s(load.duration);
  if (Time_s(*limits.trial_timeout) > least) return std::nullopt;
  return fmt::format(
      "trial_timeout {} ends a trial before its load can be over; allowed: more than {:.3g} s "
      "(--trial-timeout)",
      format_duration(*limits.trial_timeout), least.count());
}

// Checks a contestant's protocol options against every case.
std::optional<std::string> check_options(const Case& one, const EngineChoice& choice, Role role,
                                         const Catalogue& catalogue) {
  for (const auto& [name, value] : choice.options) {
    if (auto problem = check_option(one.protocol, name, value, catalogue)) return problem;
    if (!is_for(*catalogue.protocol(one.protocol)->option(name), role))
      return fmt::format("option '{}' of protocol '{}' is for the {} side", name, one.protocol,
                         role == Role::serve ? "client" : "server");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_reference(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Contestant& contestant : scenario.contestants) names.push_back(contestant.name);
  if (scenario.reference.empty() || std::ranges::count(names, scenario.reference) != 0) return std::nullopt;
  return not_allowed(fmt::format("reference '{}' is not a contestant", scenario.reference),
                     scenario.reference, names);
}

std::optional<std::string> check_name(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  if (name.size() <= kLongest && !has_control(name)) return std::nullopt;
  return fmt::format("allowed: up to {} bytes without control characters", kLongest);
}

std::optional<std::string> check_engine(const std::string& name, Role role, const Catalogue& catalogue) {
  const std::vector<std::string> allowed = engines_of(role, catalogue);
  if (std::ranges::count(allowed, name) != 0) return std::nullopt;
  const Engine* const engine = catalogue.engine(name);
  if (engine == nullptr) return not_allowed(fmt::format("there is no engine '{}'", name), name, allowed);
  const char* const side = role == Role::serve ? "serve" : "dial";
  const std::string why = engine->in_process ? fmt::format("has no sockets, so it cannot {} in a race", side)
                                             : fmt::format("does not {}", side);
  return fmt::format("engine '{}' {}; allowed: {}", name, why, join(allowed));
}

namespace {

std::optional<std::string> check_protocol(const std::string& name, const Catalogue& catalogue) {
  if (catalogue.protocol(name) != nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (const ProtocolRow& row : catalogue.protocols) names.emplace_back(row.name);
  return not_allowed(fmt::format("there is no protocol '{}'", name), name, names) + plugin_hint(name);
}

}  // namespace

std::optional<std::string> check_option(const std::string& protocol, const std::string& option,
                                        const std::string& value, const Catalogue& catalogue) {
  const ProtocolRow* row = catalogue.protocol(protocol);
  if (row == nullptr) return check_protocol(protocol, catalogue);
  std::vector<std::string> names;
  for (const ProtocolOption& each : row->protocol->options) names.push_back(each.name);
  const ProtocolOption* found = row->option(option);
  if (found == nullptr)
    return not_allowed(fmt::format("protocol '{}' has no option '{}'", protocol, option), option, names);
  if (value.contains('\0'))
    return fmt::format(
        "option '{}': the value has a byte of value 0, which a race cannot pass to its processes", option);
  if (found->choices.empty() || std::ranges::count(found->choices, value) != 0) return std::nullopt;
  return not_allowed(fmt::format("'{}' is no value of option '{}'", value, option), value, found->choices);
}

std::optional<std::string> set_protocol(Case& one, const std::string& name, const Catalogue& catalogue,
                                        const std::string& file) {
  const ProtocolRow* row = catalogue.protocol(name);
  if (is_plugin_path(name) && catalogue.load_plugin) {
    const auto plugin = catalogue.load_plugin((std::filesystem::path(file).parent_path() / name).string());
    if (!plugin) return plugin.error();
    row = *plugin;
  } else if (auto problem = check_protocol(name, catalogue)) {
    return problem;
  }
  if (row->name != one.protocol) one.options.clear();
  one.protocol = row->name;
  one.plugin = row->protocol->plugin;
  return std::nullopt;
}

std::optional<std::string> check_load(const Case& one, GivenIn place) {
  if (auto problem = objection_to(one.load_at_some_rate(), place)) return problem;
  if (one.load.messages && one.open_loop())
    return "rate needs a duration, and a number of messages is given; allowed: duration (-d) instead of "
           "messages (-m)";
  return std::nullopt;
}

std::optional<std::string> check_payload(const Case& one, const Catalogue& catalogue) {
  const ProtocolRow* row = catalogue.protocol(one.protocol);
  if (row == nullptr || !one.load.payload) return std::nullopt;
  const Protocol& protocol = *row->protocol;
  if (!protocol.no_payload.empty())
    return fmt::format("payload: of protocol '{}', {}", one.protocol, protocol.no_payload);
  const std::uint64_t bytes = *one.load.payload;
  if (bytes >= protocol.least_payload && bytes <= protocol.largest_payload) return std::nullopt;
  return fmt::format("a payload of {} bytes is impossible for protocol '{}'; allowed: {} to {}", bytes,
                     one.protocol, protocol.least_payload, protocol.largest_payload);
}

std::optional<std::string> check_cpus(const std::string& list) {
  if (list.empty() || list == "any") return std::nullopt;
  const std::string wrong =
      fmt::format("'{}' is no CPU list; allowed: any, or numbers and ranges such as 0 or 0-1,3", list);
  for (const std::string_view part : split(list, ',')) {
    const std::vector<std::string_view> ends = split(part, '-');
    std::array<std::uint64_t, 2> number{};
    if (ends.size() > 2) return wrong;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto parsed = parse_count(ends[i]);
      if (!parsed || !std::ranges::all_of(ends[i], [](char c) { return c >= '0' && c <= '9'; })) return wrong;
      number[i] = *parsed;
    }
    if (ends.size() == 2 && number[0] > number[1]) return wrong;
  }
  return std::nullopt;
}

namespace {

// Returns an error of cases that move files, or of contestants that do: a contestant without a case, or a
// case without contestants.
std::optional<std::string> check_files(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Case& one : scenario.cases) names.push_back(one.name);
  for (const Contestant& contestant : scenario.contestants) {
    for (const std::string& name : contestant.cases)
      if (std::ranges::none_of(scenario.cases, [&](const Case& one) { return one.is_called(name); }))
        return not_allowed(fmt::format("'{}' takes part in '{}', which is no case", contestant.name, name),
                           name, names);
    const auto meets = [&](const Case& one) { return contestant.takes_part_in(one); };
    if (std::ranges::none_of(scenario.cases, meets))
      return fmt::format(
          "'{}' takes part in no case; allowed: {}", contestant.name,
          contestant.transfer.empty() ? "a transfer, for cases with files" : "a case with files = { ... }");
  }
  for (const Case& one : scenario.cases)
    if (std::ranges::none_of(scenario.contestants,
                             [&](const Contestant& contestant) { return contestant.takes_part_in(one); }))
      return fmt::format("case '{}': it has no contestant; allowed: contestants with {}", one.name,
                         one.files ? "a transfer" : "a server");
  return std::nullopt;
}

// Commands have options of their own: one of a case for joust's servers would be without effect, and the race
// would seem to have it.
std::optional<std::string> check_options_of_servers(const Scenario& scenario, const Case& one,
                                                    const Catalogue& catalogue) {
  const ProtocolRow* const protocol = catalogue.protocol(one.protocol);
  const bool has_server = std::ranges::any_of(scenario.contestants, [&](const Contestant& contestant) {
    return contestant.takes_part_in(one) && !contestant.external();
  });
  if (protocol == nullptr || has_server) return std::nullopt;
  for (const auto& given : one.options) {
    const ProtocolOption* const option = protocol->option(given.first);
    if (option != nullptr && !is_for(*option, Role::dial))
      return fmt::format(
          "option '{}' of protocol '{}' is for servers of joust, and all contestants are commands; allowed: "
          "in "
          "the commands themselves",
          given.first, one.protocol);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> complete(Scenario& scenario, const Catalogue& catalogue) {
  if (scenario.contestants.empty())
    return "there is nothing to race: name servers and clients, or give contestants";
  if (scenario.cases.empty()) return "there is no load";
  if (scenario.contestants.size() * scenario.cases.size() > kMostTrialsOfRound)
    return fmt::format("{} contestants in {} cases are too many; allowed: up to {} trials in a round",
                       scenario.contestants.size(), scenario.cases.size(), kMostTrialsOfRound);
  if (auto problem = check_names(scenario)) return problem;
  if (auto problem = check_reference(scenario)) return problem;
  if (auto problem = check_files(scenario)) return problem;
  for (const Case& one : scenario.cases) {
    if (one.files) continue;
    if (auto problem = check_protocol(one.protocol, catalogue)) return problem;
    if (auto problem = check_load(one)) return problem;
    if (auto problem = check_payload(one, catalogue)) return problem;
    if (auto problem = check_trial_timeout(scenario.limits, one.load)) return problem;
    for (const auto& [name, value] : one.options)
      if (auto problem = check_option(one.protocol, name, value, catalogue)) return problem;
    if (auto problem = check_options_of_servers(scenario, one, catalogue)) return problem;
    for (const Contestant& contestant : scenario.contestants) {
      if (auto problem = check_options(one, contestant.server, Role::serve, catalogue)) return problem;
      if (auto problem = check_options(one, contestant.client, Role::dial, catalogue)) return problem;
    }
  }
  return std::nullopt;
}

}  // namespace joust::race
