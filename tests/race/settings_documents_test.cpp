// SPDX-License-Identifier: MIT
//
// The documents have each setting as its row does. After a change that is meant:
//   JOUST_APPROVE=1 build/release/tests/race_tests --gtest_filter='SettingsDocuments.*' && git diff docs
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/arguments.hpp"
#include "load/settings.hpp"
#include "race/model/scenario.hpp"
#include "race/scenario/race_settings.hpp"

namespace joust::race {
namespace {

using namespace std::chrono_literals;
using Kind = Setting::Kind;

std::string path_of(const std::string& page) {
  return std::string(JOUST_SOURCE_DIR) + "/docs/" + page;
}

std::string text_of(const std::string& page) {
  std::ostringstream text;
  text << std::ifstream(path_of(page)).rdbuf();
  return text.str();
}

std::string limit_text(const Setting& row, std::uint64_t number) {
  if (row.kind == Kind::bytes) return format_size(number);
  if (row.kind == Kind::count) return grouped(number);
  const Duration time(number);
  return time > 1min && time % 1h == 0s ? fmt::format("{}h", time / 1h) : duration_word(time);
}

std::string values_of(const Setting& row, bool has_flag = true) {
  switch (row.kind) {
    case Kind::rate:
      return "0.001 to 1G";
    case Kind::percent:
      return "above 0% and below 100%";
    case Kind::ratio:
      return "0.01 to 10";
    case Kind::toggle:
      return !has_flag    ? "true or false"
             : row.on_off ? "on or off; in a scenario true or false"
                          : "no value; in a scenario true or false";
    case Kind::word:
      return join(row.words, " or ");
    case Kind::text:
      return row.objection == nullptr ? "a text" : "any, or numbers and ranges";
    default:
      break;
  }
  const std::string least = limit_text(row, row.least);
  if (row.most == 0) {
    const std::string most = limit_text(row, static_cast<std::uint64_t>(kLongestTime.count()));
    return fmt::format("{} and more{}", least, has_flag ? "; as an option to " + most : "");
  }
  if (row.kind == Kind::count && row.most > 1'000'000'000'000) return "any number";
  return fmt::format("{} to {}", least, limit_text(row, row.most));
}

std::string code(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

// Returns a line of a table. A vertical line would end a cell.
std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (std::string cell : cells) {
    for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2)
      cell.insert(at, 1, '\\');
    line += fmt::format(" {} |", cell.empty() ? "–" : cell);
  }
  return line + "\n";
}

std::string load_table() {
  const LoadPlan alone, raced = standard_load();
  std::string table = line_of({"option", "in a scenario", "in JSON", "values", "default", "meaning"});
  table += "|---|---|---|---|---|---|\n";
  for (const Setting& row : load_settings()) {
    const std::string flag =
        (row.letter.empty() ? "" : fmt::format("`-{}`, ", row.letter)) + code(row.flag());
    std::string standard = standard_text(row, &alone);
    if (const std::string other = standard_text(row, &raced); row.raced && other != standard)
      standard += fmt::format("; of a race {}", other);
    table += line_of({flag, row.raced ? code(std::string(row.key)) : "", code(row.json), values_of(row),
                      standard, std::string(row.help)});
  }
  return table;
}

void add_rows(std::string& table, SettingRows rows, const std::string& name, const void* standard) {
  for (const Setting& row : rows) {
    const bool has_flag = !row.heading.empty();
    const std::string prefix = row.table.empty() ? name : std::string(row.table) + ".";
    table += line_of({row.in_file ? code(prefix + std::string(row.key_in_file())) : "",
                      has_flag ? code(row.flag()) : "", values_of(row, has_flag),
                      standard_text(row, standard), std::string(row.help)});
  }
}

std::string race_table() {
  const Scenario scenario;
  const SocketPlan socket;
  std::string table = line_of({"in a scenario", "option", "values", "default", "meaning"});
  table += "|---|---|---|---|---|\n";
  add_rows(table, race_settings(), "", &scenario);
  add_rows(table, socket_settings(), "socket.", &socket);
  return table;
}

// Compares the table below a mark of a page: <!-- settings: NAME -->, the table, <!-- end of settings -->.
void expect_table(const std::string& page, const std::string& name, const std::string& table) {
  const std::string text = text_of(page), mark = fmt::format("<!-- settings: {} -->\n\n", name),
                    end = "\n<!-- end of settings -->";
  const std::size_t begin = text.find(mark);
  ASSERT_NE(begin, std::string::npos) << page << " has no " << mark;
  const std::size_t first = begin + mark.size(), last = text.find(end, first);
  ASSERT_NE(last, std::string::npos) << page << ": the table has no " << end;
  if (std::getenv("JOUST_APPROVE") != nullptr) {
    std::ofstream(path_of(page)) << text.substr(0, first) << table << text.substr(last);
    return;
  }
  EXPECT_EQ(text.substr(first, last - first), table)
      << "to approve: JOUST_APPROVE=1 build/release/tests/race_tests --gtest_filter='SettingsDocuments.*'";
}

TEST(SettingsDocuments, HaveTheRowsAsTables) {
  expect_table("load.md", "load", load_table());
  expect_table("scenario.md", "race", race_table());
}

// Returns the lines of the first scenario of the page that are in this table, with what is commented out.
std::vector<std::string> lines_in(const std::string& table) {
  std::istringstream page(text_of("scenario.md"));
  std::vector<std::string> lines;
  bool in_scenario = false;
  std::string current;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      if (in_scenario) break;
      in_scenario = line == "```toml";
    } else if (in_scenario && line.starts_with('[')) {
      current = line.substr(1, line.find(']') - 1);
    } else if (in_scenario && current == table) {
      lines.push_back(line);
    }
  }
  return lines;
}

// Expects the key in the example, and a default in brackets at the end of its line as in the row.
void expect_key(const Setting& row, std::string_view table, const void* standard) {
  const std::string assignment = std::string(row.key_in_file()) + " = ";
  const std::vector<std::string> lines = lines_in(std::string(table));
  const auto has = [&](const std::string& line) {
    const std::size_t at = line.find(assignment);
    return at != std::string::npos && (at == 0 || line[at - 1] == ' ');
  };
  const auto line = std::ranges::find_if(lines, has);
  ASSERT_NE(line, lines.end()) << "the scenario of docs/scenario.md has no " << table << '.' << assignment;
  const std::size_t bracket = line->rfind('[');
  if (!line->ends_with(']') || row.kind == Kind::text) return;
  const std::string told = line->substr(bracket + 1, line->size() - bracket - 2);
  const auto value = parse_setting(row, told);
  if (!value || told == standard_text(row, standard)) return;  // a sentence
  const std::string usual = setting_text(row, row.read(standard));
  EXPECT_EQ(setting_text(row, *value), usual.empty() && row.is_switch() ? "false" : usual) << *line;
}

TEST(SettingsDocuments, HaveEachKeyInTheExample) {
  const Scenario scenario;
  const LoadPlan load = standard_load();
  const SocketPlan socket;
  for (const Setting& row : race_settings())
    if (row.in_file) expect_key(row, row.table, &scenario);
  for (const Setting& row : load_settings())
    if (row.raced) expect_key(row, "load", &load);
  for (const Setting& row : socket_settings()) expect_key(row, "socket", &socket);
}

}  // namespace
}  // namespace joust::race
