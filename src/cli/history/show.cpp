// SPDX-License-Identifier: MIT
#include "cli/history/show.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <map>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "cli/common/listing.hpp"
#include "race/judgement/verdict.hpp"
#include "report/facts_json.hpp"
#include "report/page/faces.hpp"

namespace joust {
namespace {

using history::Entry;
using Json = nlohmann::ordered_json;

// Cuts a text that would make the lines of a table too long.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character
  return text.substr(0, end) + "...";
}

}  // namespace

std::string history_table(std::span<const Entry> entries, const std::string& program) {
  if (entries.empty()) return fmt::format("The history is empty. '{} race' adds every result.\n", program);
  std::vector<std::vector<std::string>> rows{{"RESULT", "STARTED", "TAGS", "RACE", "VERDICT"}};
  for (const Entry& entry : entries)
    rows.push_back({fmt::format("{}", entry.id), entry.started, join(entry.tags),
                    cut(entry.title.empty() ? entry.load : entry.title, 40),
                    cut(race::answer_in(entry.verdict), 60)});
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
  struct Row {
    std::string started, version;
    std::map<std::string, double> figures;
  };
  std::map<std::int64_t, Row> rows;
  for (const history::SeriesPoint& point : store.series_of_result(entry.id)) {
    Row& row = rows[point.result];
    // The file may come from somebody else, with escape sequences in its texts.
    row.started = printable(point.started);
    row.version = printable(point.version);
    row.figures[printable(fmt::format("{}/{}/{}", point.heat, point.contestant, point.figure))] = point.value;
  }
  const auto own = rows.find(entry.id);
  if (own == rows.end())
    throw std::runtime_error("this result has no figures: its race was interrupted, or had one round");
  std::string text = "time,result,joust";
  for (const auto& [name, value] : own->second.figures) text += "," + report::page::csv_cell(name);
  text += "\n";
  for (const auto& [id, row] : rows) {
    std::string line =
        fmt::format("{},{},{}", report::page::csv_cell(row.started), id, report::page::csv_cell(row.version));
    bool has_all = true;  // its reader takes no empty cells
    for (const auto& [name, value] : own->second.figures) {
      const auto found = row.figures.find(name);
      has_all = has_all && found != row.figures.end();
      if (has_all) line += fmt::format(",{}", found->second);
    }
    if (has_all) text += line + "\n";
  }
  return text;
}

}  // namespace joust
