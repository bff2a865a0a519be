// SPDX-License-Identifier: MIT
#include "race/scenario/cases_toml.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/split.hpp"
#include "base/words.hpp"
#include "race/scenario/load_toml.hpp"
#include "race/set_up/sweep.hpp"
#include "race/set_up/validity.hpp"

namespace joust::race {
namespace {

constexpr std::uint64_t kMostBufferBytes = 1ULL << 30;
constexpr std::uint64_t kMostBacklog = 1'000'000;

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

}  // namespace

void read_socket(TableReader& reader, SocketPlan& socket) {
  const toml::table* table = reader.table("socket");
  if (table == nullptr) return;
  TableReader options(*table, reader.path() + "socket.", reader.problems());
  if (const auto nodelay = options.boolean("nodelay")) socket.nodelay = nodelay;
  if (const auto name = options.text("congestion")) socket.congestion = name;
  if (const auto bytes = options.bytes("send_buffer", 1, kMostBufferBytes)) socket.send_buffer_bytes = bytes;
  if (const auto bytes = options.bytes("receive_buffer", 1, kMostBufferBytes))
    socket.receive_buffer_bytes = bytes;
  if (const auto peers = options.count("backlog", 1, kMostBacklog)) socket.backlog = peers;
  options.finish();
}

std::vector<std::string> read_transports(const toml::table& document) {
  const toml::node* const values = document.at_path("sweep.transport").node();
  std::vector<std::string> transports;
  if (values == nullptr) return transports;
  std::string words = sweep_values(*values);
  std::erase(words, ' ');
  for (const std::string_view each : split(words, ',')) transports.emplace_back(each);
  return transports;
}

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

}  // namespace joust::race
