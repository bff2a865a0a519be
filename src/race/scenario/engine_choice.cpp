// SPDX-License-Identifier: MIT
#include "race/scenario/engine_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "race/set_up/validity.hpp"

namespace joust::race {

namespace {

bool is_option_of_any(const std::string& name, const Catalogue& catalogue) {
  const auto has = [&](const ProtocolRow& protocol) { return protocol.option(name) != nullptr; };
  return std::ranges::any_of(catalogue.protocols, has) || std::ranges::any_of(*catalogue.plugins, has);
}

std::vector<std::string> names_of(const std::vector<EngineChoice>& choices) {
  std::vector<std::string> names;
  for (const EngineChoice& choice : choices) names.push_back(free_name(describe(choice), names));
  return names;
}

}  // namespace

std::expected<void, std::string> set_knob(EngineChoice& choice, const std::string& knob,
                                          const std::string& value, Role role, const Catalogue& catalogue) {
  const Engine* const engine = catalogue.engine(choice.engine);
  if (engine == nullptr) return std::unexpected(fmt::format("there is no engine '{}'", choice.engine));
  if (knob == "transport" && role == Role::dial)
    return std::unexpected("transport is of the server, and the client follows: write it there");
  return joust::set_knob(choice, knob, value, *engine,
                         [&](const std::string& name) { return is_option_of_any(name, catalogue); });
}

std::expected<EngineChoice, std::string> parse_engine(std::string_view text, Role role,
                                                      const Catalogue& catalogue) {
  EngineChoice choice{.engine = std::string(text.substr(0, text.find(':')))};
  if (auto problem = check_engine(choice.engine, role, catalogue)) return std::unexpected(*problem);
  const auto settings = settings_of_text(text);
  if (!settings) return std::unexpected(settings.error());
  for (const auto& [knob, value] : *settings)
    if (const auto set = set_knob(choice, knob, value, role, catalogue); !set)
      return std::unexpected(set.error());
  return choice;
}

std::string_view on_off(bool value) {
  return value ? "on" : "off";
}

std::string describe(const EngineChoice& choice) {
  std::string text = choice.engine;
  if (choice.threads != 1) text += fmt::format(":threads={}", choice.threads);
  if (choice.wait != "block") text += fmt::format(":wait={}", choice.wait);
  if (choice.nodelay) text += fmt::format(":nodelay={}", on_off(*choice.nodelay));
  if (choice.transport != EngineChoice().transport) text += fmt::format(":transport={}", choice.transport);
  for (const Settings* settings : {&choice.knobs, &choice.options})
    for (const auto& [name, value] : *settings) text += fmt::format(":{}={}", name, value);
  return text;
}

std::string free_name(const std::string& name, std::span<const std::string> taken) {
  const std::set<std::string_view> names(taken.begin(), taken.end());
  std::string free = name;
  for (int number = 2; names.contains(free); ++number) free = fmt::format("{}#{}", name, number);
  return free;
}

namespace {

// Returns the program of a shell command: "my-server" of "A=b exec bin/my-server --port {port}".
std::string program_of(std::string_view command) {
  std::string name = "command";
  for (const std::string_view word : split(command, ' ')) {
    const std::string_view program = word.substr(word.rfind('/') + 1);
    constexpr std::string_view kSyntax = "'\"`$(){}&|;<>\\\n";
    if (word == "exec" || word == "env" || program.empty() || word.contains('=')) continue;
    if (program.find_first_of(kSyntax) == std::string_view::npos && !has_control(program)) name = program;
    break;
  }
  return name;
}

}  // namespace

std::string standard_name(const Contestant& contestant, std::span<const Contestant> others) {
  if (contestant.external()) {
    std::vector<std::string> names;
    for (const Contestant& other : others) names.push_back(other.name);
    return free_name(program_of(contestant.transfer.empty() ? contestant.command : contestant.transfer),
                     names);
  }
  const std::string name = describe(contestant.server);
  std::vector<std::string> taken;
  bool is_equal = false;
  for (const Contestant& other : others) {
    taken.push_back(other.name);
    if (other.name == name)
      is_equal = !other.external() && other.server == contestant.server && other.client == contestant.client;
  }
  return is_equal ? free_name(name, taken) : name;
}

std::vector<Contestant> every_server(const std::vector<EngineChoice>& servers, const Catalogue& catalogue) {
  const std::vector<std::string> names = names_of(servers);
  std::vector<Contestant> contestants;
  for (std::size_t i = 0; i < servers.size(); ++i)
    contestants.push_back({.name = names[i],
                           .server = servers[i],
                           .command = {},
                           .needs = {},
                           .client = {.engine = catalogue.standard_client(servers[i].engine)}});
  return contestants;
}

std::string too_many_pairs(std::size_t servers, std::size_t clients) {
  return fmt::format("{} servers with {} clients are too many; allowed: up to {} contestants", servers,
                     std::max<std::size_t>(clients, 1), kMostEntries);
}

std::vector<Contestant> with_clients(const std::vector<Contestant>& servers,
                                     const std::vector<EngineChoice>& clients) {
  const std::vector<std::string> names = names_of(clients);
  std::vector<Contestant> pairs;
  for (const Contestant& server : servers)
    for (std::size_t i = 0; i < clients.size(); ++i) {
      Contestant& pair = pairs.emplace_back(server);
      if (clients.size() > 1) pair.name += '/' + names[i];
      pair.client = clients[i];
    }
  return pairs;
}

std::expected<void, std::string> sweep_transports(const std::vector<std::string>& transports,
                                                  Scenario& scenario, const Catalogue& catalogue) {
  std::vector<Contestant> contestants;
  for (const Contestant& contestant : scenario.contestants) {
    if (contestant.external()) {
      contestants.push_back(contestant);
      continue;
    }
    std::set<std::string> taken;
    for (const std::string& transport : transports) {
      if (!taken.insert(transport).second) continue;
      Contestant& one = contestants.emplace_back(contestant);
      if (auto set = set_knob(one.server, "transport", transport, Role::serve, catalogue); !set)
        return std::unexpected(set.error());
      if (transport != EngineChoice().transport) one.name += fmt::format(":transport={}", transport);
    }
  }
  scenario.contestants = std::move(contestants);
  return {};
}

}  // namespace joust::race
