// SPDX-License-Identifier: MIT
#include "race/scenario/scenario_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "base/toml_objection.hpp"
#include "base/units.hpp"
#include "race/scenario/cases_toml.hpp"
#include "race/scenario/engine_choice.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/scenario/toml_reader.hpp"
#include "race/scenario/transports.hpp"
#include "race/set_up/validity.hpp"

// The format, with every key, is described in docs/scenario.md; here each table has one function.
namespace joust::race {
namespace {

constexpr Duration kLongestOwnWarmup = std::chrono::minutes(10);
constexpr std::size_t kLargestScenario = 1 << 20;

void read_limits(const toml::table* table, LimitPlan& limits, Problems& problems) {
  if (table == nullptr) return;
  TableReader reader(*table, "limits.", problems);
  limits.connect_timeout = reader.duration("connect_timeout", kShortest);
  limits.request_timeout = reader.duration("request_timeout", kShortest);
  limits.idle_timeout = reader.duration("idle_timeout", kShortest);
  limits.trial_timeout = reader.duration("trial_timeout", kShortest);
  reader.finish();
}

void read_cpus(const toml::table* table, CpuPlan& cpus, Problems& problems) {
  if (table == nullptr) return;
  TableReader reader(*table, "cpus.", problems);
  for (const auto& [key, list] : {std::pair{"server", &cpus.server}, std::pair{"client", &cpus.client}}) {
    assign(*list, reader.scalar(key));
    if (const auto problem = check_cpus(*list)) reader.wrong(key, *problem);
  }
  reader.finish();
}

// An engine as text ("epoll", "epoll:trigger=level") or as a table ({ engine = "epoll", trigger = "level" }).
std::optional<EngineChoice> read_engine(const toml::node& node, const toml::source_region& where,
                                        const std::string& key, Role role, const Catalogue& catalogue,
                                        Problems& problems) {
  if (const auto* text = node.as_string()) {
    auto choice = parse_engine(text->get(), role, catalogue);
    if (choice) return *choice;
    problems.add(where, key, choice.error());
    return std::nullopt;
  }
  if (node.as_table() == nullptr) {
    problems.add(where, key,
                 "wrong type; allowed: an engine's name, or a table { engine = \"...\", KNOB = ... }");
    return std::nullopt;
  }
  TableReader reader(*node.as_table(), key + ".", problems);
  const auto engine = reader.text("engine");
  if (!engine) {
    reader.wrong("engine", "missing; allowed: an engine's name");
    return std::nullopt;
  }
  if (const auto problem = check_engine(*engine, role, catalogue)) {
    reader.wrong("engine", *problem);
    return std::nullopt;
  }
  EngineChoice choice{.engine = *engine};
  for (const auto& [knob, value] : reader.others())
    if (const auto set = set_knob(choice, knob, value, role, catalogue); !set)
      reader.wrong(knob, set.error());
  return choice;
}

std::optional<EngineChoice> read_engine(TableReader& reader, std::string_view key, Role role,
                                        const Catalogue& catalogue) {
  const toml::node* node = reader.node(key);
  if (node == nullptr) return std::nullopt;
  return read_engine(*node, node->source(), reader.path() + std::string(key), role, catalogue,
                     reader.problems());
}

std::vector<EngineChoice> read_engines(TableReader& reader, std::string_view key, Role role,
                                       const Catalogue& catalogue) {
  const toml::node* node = reader.node(key);
  std::vector<EngineChoice> engines;
  if (node == nullptr) return engines;
  if (node->as_array() == nullptr) {
    reader.wrong(key, "wrong type; allowed: a list of engines [\"epoll\", ...]");
    return engines;
  }
  for (const toml::node& each : *node->as_array())
    if (auto engine = read_engine(each, each.source(), reader.path() + std::string(key), role, catalogue,
                                  reader.problems()))
      engines.push_back(*engine);
  return engines;
}

// Reports commands that are missing from a contestant's keys, or that contradict each other.
void check_commands(TableReader& reader, const toml::table& table, const Contestant& contestant) {
  const std::string commands = contestant.command + contestant.transfer;
  const char* const command = contestant.transfer.empty() ? "command" : "transfer";
  if (contestant.external() && table.contains("server"))
    reader.wrong(command, "given beside server; allowed: one of them");
  else if (!contestant.external() && table.contains("needs"))
    reader.wrong("needs", "it has no command; allowed: the programs that commands run");
  else if (!contestant.external() && !table.contains("server"))
    reader.wrong("server",
                 "missing; allowed: server = \"ENGINE\", command = \"... {port}\", or transfer = \"... "
                 "{from} {into}\"");
  else if (contestant.transfer.empty() && !contestant.moves_files)
    reader.wrong("moves_files", "it has no transfer; allowed: false beside a transfer");
  if (table.contains("ready") && (contestant.command.empty() || contestant.ready.empty()))
    reader.wrong("ready", contestant.ready.empty()
                              ? "it is empty; allowed: a part of a line that its command prints"
                              : "it has no command; allowed: beside a command");
  if (contestant.ready_timeout && contestant.command.empty() && !contestant.transfer.empty())
    reader.wrong("ready_timeout", "it has no server; allowed: beside a server or a command");
  const bool reaches = commands.contains("{from}") && commands.contains("{into}");
  for (const auto& [key, text] :
       {std::pair{"command", &contestant.command}, {"transfer", &contestant.transfer}})
    if (const std::string meant = misspelt_name(*text); !meant.empty())
      reader.wrong(key, fmt::format("it is not filled in; did you mean {}?", meant));
  if (!contestant.transfer.empty() && contestant.moves_files && !reaches)
    reader.wrong("transfer",
                 "nothing moves the files; allowed: shell commands with {from} and {into} in one of them");
}

void read_contestant(const toml::table& table, const std::optional<EngineChoice>& client,
                     const Catalogue& catalogue, Scenario& scenario, Problems& problems) {
  TableReader reader(table, "contestant.", problems);
  Contestant contestant{.name = reader.text("name").value_or(""),
                        .server = {},
                        .command = reader.text("command").value_or(""),
                        .needs = reader.texts("needs"),
                        .client = {},
                        .transfer = reader.text("transfer").value_or(""),
                        .cases = reader.texts("cases"),
                        .moves_files = reader.boolean("moves_files").value_or(true),
                        .warmup = reader.duration("warmup", kShortest, kLongestOwnWarmup),
                        .ready = reader.text("ready").value_or(""),
                        .ready_timeout = reader.duration("ready_timeout", kShortest)};
  const auto server = read_engine(reader, "server", Role::serve, catalogue);
  assign(contestant.server, server);
  contestant.client =
      client.value_or(EngineChoice{.engine = catalogue.standard_client(contestant.server.engine)});
  assign(contestant.client, read_engine(reader, "client", Role::dial, catalogue));
  check_commands(reader, table, contestant);
  for (std::string* command : {&contestant.command, &contestant.transfer})
    *command = with_folder(std::move(*command), scenario.file);
  if (contestant.name.empty()) {
    if (server || contestant.external()) contestant.name = standard_name(contestant, scenario.contestants);
  }
  if (table.contains("name"))
    if (const auto problem = check_name(contestant.name)) reader.wrong("name", *problem);
  if (!contestant.name.empty() && std::ranges::find(scenario.contestants, contestant.name,
                                                    &Contestant::name) != scenario.contestants.end())
    reader.wrong(table.contains("name") ? "name" : "server",
                 fmt::format("another contestant is called '{}'; allowed: a name of its own (name = \"...\")",
                             contestant.name));
  reader.finish();
  scenario.contestants.push_back(std::move(contestant));
}

void read_contestants(TableReader& reader, const Catalogue& catalogue, Scenario& scenario,
                      Problems& problems) {
  const auto client = read_engine(reader, "client", Role::dial, catalogue);
  if (const toml::table* matrix = reader.table("matrix")) {
    TableReader pairs(*matrix, "matrix.", problems);
    const auto servers = read_engines(pairs, "servers", Role::serve, catalogue);
    auto clients = read_engines(pairs, "clients", Role::dial, catalogue);
    const bool own_clients = matrix->contains("clients");
    if (!own_clients && client) clients.push_back(*client);
    if (!matrix->contains("servers"))
      pairs.wrong("servers", "missing; allowed: a list of engines [\"epoll\", ...]");
    pairs.finish();
    if (servers.size() * std::max<std::size_t>(clients.size(), 1) > kMostEntries) {
      reader.wrong("matrix", too_many_pairs(servers.size(), clients.size()));
    } else {
      scenario.contestants = every_server(servers, catalogue);
      if (own_clients || client) scenario.contestants = with_clients(scenario.contestants, clients);
    }
  }
  for (const toml::table* each : reader.tables("contestant"))
    read_contestant(*each, client, catalogue, scenario, problems);
}

void read_document(const toml::table& document, const Catalogue& catalogue, Size size, Scenario& scenario,
                   Problems& problems) {
  TableReader reader(document, "", problems);
  assign(scenario.title, reader.text("title"));
  assign(scenario.description, reader.text("description"));
  assign(scenario.rounds, reader.count("rounds", 1, kMostRounds));
  assign(scenario.time, reader.duration("time", kShortest));
  const auto read_percent = [&](const char* key, double& fraction) {
    const auto text = reader.text(key);
    if (!text) return;
    if (const auto given = parse_percent(*text))
      fraction = *given;
    else
      reader.wrong(key, given.error());
  };
  read_percent("precision", scenario.precision);
  read_percent("least_difference", scenario.least_difference);
  assign(scenario.allow_unranked, reader.boolean("allow_unranked"));
  assign(scenario.turns, reader.boolean("turns"));
  scenario.turn = reader.duration("turn", kShortest, kLongestTurn);
  if (scenario.turn && !scenario.turns)
    reader.wrong("turn", "given beside turns = false; allowed: one of them");
  scenario.seed = reader.count("seed", 0, std::numeric_limits<std::int64_t>::max());
  assign(scenario.reference, reader.text("reference"));
  read_socket(reader, scenario.socket);
  if (!read_cases(reader, catalogue, size, scenario).contains(size) && size == Size::full)
    problems.add(document.source(), "this scenario has no full size (a table [full]); leave out --full");
  read_limits(reader.table("limits"), scenario.limits, problems);
  read_cpus(reader.table("cpus"), scenario.cpus, problems);
  read_contestants(reader, catalogue, scenario, problems);
  if (const auto transports = read_transports(document); !transports.empty())
    if (const auto swept = sweep_transports(transports, scenario, catalogue); !swept)
      reader.wrong("sweep", swept.error());
  reader.finish();
  if (!problems.empty()) return;
  const auto problem = complete(scenario, catalogue);
  if (!problem) return;
  const auto about = [&](const char* word, const char* key) {
    return document.contains(key) && problem->starts_with(word);
  };
  reader.wrong(about("reference", "reference")    ? "reference"
               : about("trial_timeout", "limits") ? "limits"
                                                  : "contestant",
               *problem);
}

}  // namespace

std::expected<Scenario, std::string> read_scenario(const std::string& path, const Catalogue& catalogue,
                                                   Size size) {
  errno = 0;
  std::ifstream file(path);
  std::string content(kLargestScenario + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || content.empty())
    return std::unexpected(fmt::format("{}: cannot read this scenario: {}", path,
                                       errno == 0 ? "it is empty" : std::strerror(errno)));
  if (content.size() > kLargestScenario)
    return std::unexpected(fmt::format("{}: a scenario has at most 1 MiB", path));
  if (const std::string wrong = toml_objection(content); !wrong.empty())
    return std::unexpected(fmt::format("{}: {}", path, wrong));
  Problems problems(path);
  Scenario scenario;
  scenario.file = path;
  try {
    read_document(toml::parse(content, path), catalogue, size, scenario, problems);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    problems.add(error.source(), fmt::format("this is not TOML: {}",
                                             toml_error(content, at.line, at.column, error.description())));
  }
  if (!problems.empty()) return std::unexpected(problems.text());
  return scenario;
}

}  // namespace joust::race
