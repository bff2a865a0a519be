// SPDX-License-Identifier: MIT
#include "cli/history/show.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <map>

#include "base/words.hpp"
#include "cli/common/listing.hpp"
#include "history/series.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

using history::Entry;
using Json = nlohmann::ordered_json;
using report::page::Document;

// Returns the figures of a result by the name of their column: "main/epoll/throughput_per_s".
std::map<std::string, double> columns_of(const Document& document) {
  std::map<std::string, double> columns;
  for (const report::page::Heat& heat : document.heats)
    for (const report::page::Runner& runner : heat.runners) {
      if (runner.kind != report::page::Kind::contestant) continue;
      for (const history::Figure& figure : history::figures_of(heat, runner))
        if (!figure.values.empty())
          columns[fmt::format("{}/{}/{}", heat.name, runner.name, figure.name)] =
              history::geometric_mean(figure.values);
    }
  return columns;
}

// Returns the identities of all cases, which races of one kind have in common.
std::string kind_of(const Document& document) {
  std::string kind;
  for (const report::page::Heat& heat : document.heats) kind += heat.name + heat.identity;
  return kind;
}

Document document_of(history::Store& store, std::int64_t id) {
  auto document = report::page::read_document(store.document(id));
  if (!document) throw std::runtime_error(fmt::format("result {}: {}", id, document.error()));
  return std::move(*document);
}

// Quotes a cell of comma-separated values as in RFC 4180.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string history_table(std::span<const Entry> entries, const std::string& program) {
  if (entries.empty()) return fmt::format("The history is empty. '{} race' adds every result.\n", program);
  std::vector<std::vector<std::string>> rows{{"RESULT", "STARTED", "TAGS", "RACE", "VERDICT"}};
  for (const Entry& entry : entries)
    rows.push_back({fmt::format("{}", entry.id), entry.started, join(entry.tags),
                    entry.title.empty() ? entry.load : entry.title, entry.verdict});
  return columns(rows);
}

std::string history_entry(const Entry& entry) {
  std::vector<std::vector<std::string>> rows{{"result", fmt::format("{}", entry.id)},
                                             {"started", entry.started},
                                             {"tags", join(entry.tags)},
                                             {"title", entry.title},
                                             {"load", entry.load},
                                             {"verdict", entry.verdict},
                                             {"command", entry.command},
                                             {"host", entry.host},
                                             {"environment", entry.fingerprint},
                                             {"joust", entry.version}};
  std::erase_if(rows, [](const auto& row) { return row[1].empty(); });
  return columns(rows);
}

std::string history_json(const std::string& file, std::span<const Entry> entries) {
  Json results = Json::array();
  for (const Entry& entry : entries)
    results.push_back({{"id", entry.id},
                       {"started", entry.started},
                       {"tags", entry.tags},
                       {"title", entry.title},
                       {"load", entry.load},
                       {"verdict", entry.verdict},
                       {"command", entry.command},
                       {"host", entry.host},
                       {"fingerprint", entry.fingerprint},
                       {"joust", entry.version},
                       {"bytes", entry.bytes}});
  return text_of({{"schema", "joust-history/1"}, {"file", file}, {"results", std::move(results)}}, 2);
}

std::string otava_csv(history::Store& store, const Entry& entry) {
  const Document wanted = document_of(store, entry.id);
  const std::map<std::string, double> columns = columns_of(wanted);
  std::string text = "time,result,joust";
  for (const auto& [name, value] : columns) text += "," + cell(name);
  text += "\n";
  std::vector<Entry> entries = store.entries();
  for (auto one = entries.rbegin(); one != entries.rend(); ++one) {
    if (one->host != entry.host || one->fingerprint != entry.fingerprint) continue;
    const Document document = document_of(store, one->id);
    if (kind_of(document) != kind_of(wanted)) continue;
    const std::map<std::string, double> figures = columns_of(document);
    text += fmt::format("{},{},{}", one->started, one->id, cell(one->version));
    for (const auto& [name, value] : columns) {
      const auto found = figures.find(name);
      text += found == figures.end() ? "," : fmt::format(",{}", found->second);
    }
    text += "\n";
  }
  return text;
}

}  // namespace joust
