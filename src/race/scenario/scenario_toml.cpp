// SPDX-License-Identifier: MIT
#include "race/scenario/scenario_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "race/scenario/engine_choice.hpp"
#include "race/scenario/load_toml.hpp"
#include "race/scenario/race_settings.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/scenario/toml_reader.hpp"
#include "race/set_up/sweep.hpp"
#include "race/set_up/validity.hpp"

// The format, with every key, is described in docs/scenario.md; here each table has one function.
namespace joust::race {
namespace {

constexpr Duration kLongestOwnWarmup = std::chrono::minutes(10);
constexpr std::size_t kLargestScenario = 1 << 20;

// Reads a table of the race's own settings, such as [limits].
void read_own(TableReader& document, const std::string& name, Scenario& scenario) {
  const toml::table* const table = document.table(name);
  if (table == nullptr) return;
  TableReader reader(*table, name + ".", document.problems());
  reader.read(race_settings(), name, scenario);
  reader.finish();
}

// The sizes for which a scenario has tables.
using Sizes = std::set<Size>;

void read_protocol(TableReader& reader, const Catalogue& catalogue, const std::string& file, Case& one) {
  const auto name = reader.text("protocol");
  if (!name) return;
  if (const auto problem = set_protocol(one, *name, catalogue, file)) {
    reader.wrong("protocol", *problem);
    one.protocol = *name;  // its options are not checked by another protocol
  }
}

// Reads the table [options], whose keys are option names: flush = "each".
void read_options(TableReader& reader, const Catalogue& catalogue, Case& one) {
  const toml::table* table = reader.table("options");
  if (table == nullptr) return;
  TableReader options(*table, reader.path() + "options.", reader.problems());
  for (const auto& [name, value] : options.others()) {
    if (const auto problem = check_option(one.protocol, name, value, catalogue))
      options.wrong(name, *problem);
    else if (const auto read = read_value(*catalogue.protocol(one.protocol)->option(name), value))
      one.options[name] = *read;
    else
      options.wrong(name, read.error());
  }
}

constexpr std::string_view kTransport = "transport";

// Returns the values of a sweep, "1..20" or a list of values, as one text.
std::string sweep_values(const toml::node& given) {
  const toml::array* const array = given.as_array();
  if (array == nullptr) return scalar_text(given).value_or("");
  std::vector<std::string> words;
  for (const toml::node& each : *array) words.push_back(scalar_text(each).value_or(""));
  return join(words, ",");
}

// Reads a table such as [sweep] connections = "1..20".
void read_sweep(TableReader& reader, Case& one) {
  const toml::table* table = reader.table("sweep");
  if (table == nullptr) return;
  if (table->size() != 1) reader.wrong("sweep", "allowed: one axis, such as connections = \"1..20\"");
  TableReader values(*table, reader.path() + "sweep.", reader.problems());
  for (const auto& [axis, given] : *table) {
    if (axis.str() == kTransport && reader.path().empty()) continue;  // of contestants: see read_transports()
    if (axis.str() == kTransport)
      values.wrong(axis.str(),
                   "is of the contestants, which all cases have; allowed: in the document's [sweep]");
    else if (auto sweep = parse_sweep(axis.str(), sweep_values(given)))
      one.sweep = std::move(*sweep);
    else
      values.wrong(axis.str(), sweep.error());
  }
}

// Reads files = { count = 10_000, size = "16kB", on = "memory" }. A key that is left out keeps its value.
// Every file is one message of the only connection.
void read_files(TableReader& reader, Case& one) {
  const toml::table* table = reader.table("files");
  if (table == nullptr) return;
  TableReader keys(*table, reader.path() + "files.", reader.problems());
  FilePlan files = one.files.value_or(FilePlan{});
  assign(files.count, keys.count("count", 1, kMostFiles));
  assign(files.bytes, keys.bytes("size", 1, kMostBytesOfFiles));
  assign(files.on, keys.word("on", file_places()));
  keys.finish();
  if (files.bytes == 0)
    reader.wrong("files", "how large? allowed: { size = \"1GB\", ... }");
  else if (files.count > kMostBytesOfFiles / files.bytes)
    reader.wrong("files", fmt::format("allowed: up to {} bytes in all", kMostBytesOfFiles));
  one.files = files;
  one.protocol.clear();
  one.load = {.connections = 1, .messages = files.count, .warmup = Duration(0)};
}

// Reads the differences that a table makes by [options], [load], [sweep] and files.
void read_differences(TableReader& reader, const Catalogue& catalogue, Case& one) {
  read_files(reader, one);
  if (one.files)
    for (const char* key : {"options", "load", "sweep"})
      reader.misplaced(key, "given beside files; allowed: one of them, as whole commands move the files");
  read_options(reader, catalogue, one);
  read_load(reader.table("load"), reader.path() + "load.", one, reader.problems());
  read_sweep(reader, one);
}

// Completes a case when all of its tables have been read.
void complete(TableReader& reader, const Catalogue& catalogue, Case& one) {
  if (one.files) return;
  const std::size_t known = reader.problems().size();
  if (const auto problem = check_load(one)) reader.wrong("load", *problem);
  if (const auto problem = check_payload(one, catalogue)) reader.wrong("load", *problem);
  if (reader.problems().size() > known) return;
  if (const auto problem = check_sweep(one, catalogue)) reader.wrong("sweep", *problem);
}

// Reads the tables [quick] and [full]. Both are read, so that mistakes show, and the wanted one counts.
void read_sizes(TableReader& reader, const Catalogue& catalogue, Size wanted, Sizes& sizes, Case& one) {
  const Case usual = one;
  for (const auto& [key, size] : {std::pair{"quick", Size::quick}, std::pair{"full", Size::full}}) {
    const toml::table* table = reader.table(key);
    if (table == nullptr) continue;
    sizes.insert(size);
    Case sized = usual;
    TableReader differences(*table, reader.path() + key + '.', reader.problems());
    read_differences(differences, catalogue, sized);
    differences.finish();
    if (size == wanted) one = std::move(sized);
  }
}

// Reads the table [socket] of a document or of a case, which overwrites only the values it gives.
void read_socket(TableReader& reader, SocketPlan& socket) {
  const toml::table* table = reader.table("socket");
  if (table == nullptr) return;
  TableReader options(*table, reader.path() + "socket.", reader.problems());
  options.read(socket_settings(), "", socket);
  options.finish();
}

// Returns the transports of a document's [sweep] transport = ["tcp", "unix"]; none without it.
std::vector<std::string> read_transports(const toml::table& document) {
  const toml::node* const values = document.at_path("sweep.transport").node();
  std::vector<std::string> transports;
  if (values == nullptr) return transports;
  std::string words = sweep_values(*values);
  std::erase(words, ' ');
  for (const std::string_view each : split(words, ',')) transports.emplace_back(each);
  return transports;
}

// Reads the cases of a scenario, whose file and [socket] are known: the document's own protocol, [options],
// [load] and [sweep], and its [[case]] tables. A [[case]] table overwrites only the values it gives, also
// those of [socket]. So do the tables [quick] and [full], of the document or a case, where their size is
// wanted.
Sizes read_cases(TableReader& reader, const Catalogue& catalogue, Size wanted, Scenario& scenario) {
  Sizes sizes;
  std::vector<Case>& cases = scenario.cases;
  Case common;
  common.socket = scenario.socket;
  common.protocol = catalogue.protocols.front().name;
  read_protocol(reader, catalogue, scenario.file, common);
  read_differences(reader, catalogue, common);
  read_sizes(reader, catalogue, wanted, sizes, common);
  for (const toml::table* table : reader.tables("case")) {
    TableReader each(*table, "case.", reader.problems());
    Case one = common;
    one.name = each.text("name").value_or("");
    if (one.name.empty()) each.wrong("name", "missing; allowed: a short name for this case");
    one.title = each.text("title").value_or("");
    read_protocol(each, catalogue, scenario.file, one);
    read_socket(each, one.socket);
    read_differences(each, catalogue, one);
    read_sizes(each, catalogue, wanted, sizes, one);
    complete(each, catalogue, one);
    each.finish();
    cases.push_back(std::move(one));
  }
  if (!cases.empty()) return sizes;
  complete(reader, catalogue, common);
  cases.push_back(std::move(common));
  return sizes;
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
  reader.read(race_settings(), "", scenario);
  if (scenario.turn && !scenario.turns)
    reader.wrong("turn", "given beside turns = false; allowed: one of them");
  read_socket(reader, scenario.socket);
  if (!read_cases(reader, catalogue, size, scenario).contains(size) && size == Size::full)
    problems.add(document.source(), "this scenario has no full size (a table [full]); leave out --full");
  for (const char* table : {"limits", "cpus"}) read_own(reader, table, scenario);
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
