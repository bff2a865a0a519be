// SPDX-License-Identifier: MIT

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/document.hpp"
#include "base/text.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "history/store.hpp"
#include "report/facts_json.hpp"
#include "report/page/faces.hpp"

namespace joust {
namespace {

using history::Entry;

// Cuts a text that would make the lines of a table too long.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character
  return text.substr(0, end) + "...";
}

std::string history_table(std::span<const Entry> entries, const std::string& program) {
  if (entries.empty()) return fmt::format("The history is empty. '{} race' adds every result.\n", program);
  std::vector<std::vector<std::string>> rows{{"RESULT", "STARTED", "TAGS", "RACE", "VERDICT"}};
  for (const Entry& entry : entries)
    rows.push_back({fmt::format("{}", entry.id), entry.started, join(entry.tags),
                    cut(entry.title.empty() ? entry.load : entry.title, 40),
                    cut(entry.verdict.substr(0, entry.verdict.find('\n')), 60)});
  return columns(rows);
}

std::string history_entry(const Entry& entry) {
  std::vector<std::vector<std::string>> rows{{"result", fmt::format("{}", entry.id)},
                                             {"started", entry.started},
                                             {"tags", join(entry.tags)},
                                             {"title", entry.title},
                                             {"load", entry.load}};
  const char* name = "verdict";
  for (const std::string_view line : split(entry.verdict, '\n'))
    rows.push_back({std::exchange(name, ""), std::string(line)});
  rows.insert(rows.end(), {{"command", entry.command},
                           {"host", entry.host},
                           {"environment", entry.fingerprint},
                           {"joust", entry.joust}});
  std::erase_if(rows, [](const auto& row) { return row[1].empty(); });
  return columns(rows);
}

// Returns the document that docs/history.schema.json describes. `file`: of the history.
std::string history_json(const std::string& file, std::span<const Entry> entries) {
  return text_of({{"schema", "joust-history/1"}, {"file", file}, {"results", to_document(entries)}}, 2);
}

// Returns a row for each race of the history that has all figures of this one, in the same environment, the
// oldest first. Columns: its time, number and version, then one for each figure of each contestant. Throws
// std::runtime_error if this result has no figures.
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
    row.figures[printable(fmt::format("{}/{}/{}", point.case_, point.contestant, point.figure))] =
        point.value;
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

struct History;

// One use of the history. `run` gets the words after the action's own.
struct Action {
  const char* name;
  std::vector<std::string> words;  // of its arguments, for messages
  void (*run)(const History& history, history::Store& store, const std::vector<std::string>& words);
};

struct History {
  const Program& program;
  std::vector<std::string> words{};
  std::uint64_t keep = 0;
  bool as_json = false;
  std::optional<Option> keep_option{};

  void run() const;
};

// Throws UsageError if there is no such result.
history::Entry result_named(history::Store& store, const std::string& name) {
  if (auto entry = store.find(name)) return *entry;
  throw UsageError(fmt::format("no result in the history has the tag or number '{}'", name));
}

void list_all(const History& command, history::Store& store, const std::vector<std::string>& /*words*/) {
  const std::vector<history::Entry> entries = store.entries();
  print_list(command.as_json ? history_json(history::default_path(), entries)
                             : for_people(history_table(entries, command.program.name)));
}

void show_one(const History& command, history::Store& store, const std::vector<std::string>& words) {
  const history::Entry entry = result_named(store, words[0]);
  print_list(command.as_json ? history_json(history::default_path(), {&entry, 1})
                             : for_people(history_entry(entry)));
}

// Throws UsageError unless it is a name that can be told from a number and an option.
void ensure_tag(const std::string& tag) {
  constexpr std::size_t kLongest = 60;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto may_be_in = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._-").contains(c);
  };
  if (!tag.empty() && tag.size() <= kLongest && tag.front() != '-' && std::ranges::all_of(tag, may_be_in) &&
      !std::ranges::all_of(tag, is_digit))
    return;
  throw UsageError(
      fmt::format("'{}' is no tag: it has up to {} letters, digits and . _ -, begins with no -, "
                  "and is no number",
                  printable(tag, "\\"), kLongest));
}

void tag_one(const History& command, history::Store& store, const std::vector<std::string>& words) {
  ensure_tag(words[1]);
  const history::Entry entry = result_named(store, words[0]);
  const auto before = store.find(words[1]);
  store.tag(entry.id, words[1]);
  if (before && before->id != entry.id)
    complain(command.program,
             fmt::format("the tag '{}' was on result {}, and is now on {}", words[1], before->id, entry.id));
}

void untag_one(const History& /*command*/, history::Store& store, const std::vector<std::string>& words) {
  if (!store.untag(words[0])) throw UsageError(fmt::format("there is no tag '{}'", words[0]));
}

void export_one(const History& /*command*/, history::Store& store, const std::vector<std::string>& words) {
  const std::string document = store.document(result_named(store, words[0]).id);
  const auto is_raw = [](char c) { return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t'; };
  if (std::ranges::any_of(document, is_raw))  // JSON has none; a terminal would obey them
    throw std::runtime_error(fmt::format(
        "the document of result {} has control characters: another program than joust has written it",
        words[0]));
  print_list(document);
}

void export_series(const History& /*command*/, history::Store& store, const std::vector<std::string>& words) {
  print_list(otava_csv(store, result_named(store, words[0])));
}

void prune(const History& command, history::Store& store, const std::vector<std::string>& /*words*/) {
  if (!command.keep_option->given())
    throw UsageError("prune: give --keep N: the newest N results stay, and those with a tag");
  print_list(fmt::format("removed {}\n", counted(store.prune(command.keep), "result")));
}

const std::array<Action, 7>& actions() {
  static const std::array<Action, 7> all{{{"list", {}, list_all},
                                          {"show", {"RESULT"}, show_one},
                                          {"tag", {"RESULT", "TAG"}, tag_one},
                                          {"untag", {"TAG"}, untag_one},
                                          {"export", {"RESULT"}, export_one},
                                          {"otava", {"RESULT"}, export_series},
                                          {"prune", {}, prune}}};
  return all;
}

void History::run() const {
  const std::string name = words.empty() ? "list" : words.front();
  const auto action = std::ranges::find(actions(), name, &Action::name);
  if (action == actions().end()) {
    std::vector<std::string> names;
    for (const Action& one : actions()) names.emplace_back(one.name);
    throw UsageError(not_allowed(fmt::format("history: there is no action '{}'", name), name, names));
  }
  const std::vector<std::string> rest(words.empty() ? words.begin() : words.begin() + 1, words.end());
  if (rest.size() != action->words.size())
    throw UsageError(fmt::format("history {}: expects {}", name,
                                 action->words.empty() ? "nothing more" : join(action->words, " and ")));
  if (keep_option->given() && name != "prune") throw UsageError("--keep is for 'history prune'");
  if (as_json && name != "list" && name != "show")
    throw UsageError("--json is for 'history list' and 'history show'");
  action->run(*this, *history::open_store(history::default_path()), rest);
}

}  // namespace

void add_history(Command root, const Program& program, int& /*exit_code*/) {
  auto history = std::make_shared<History>(program);
  Command command = root.add_command("history", "List and export the results of earlier races");
  command.add_words("ACTION [RESULT] [TAG]", history->words, "what to do, and with which result [list]");
  history->keep_option =
      add_count(command, "--keep", history->keep, "of 'prune': how many results stay", 0, 1'000'000)
          .type_name("N");
  command.add_flag("--json", history->as_json, "of 'list' and 'show': as JSON (joust-history/1)");
  command.footer(fmt::format(R"(Actions:
  list              all results, the newest first
  show RESULT       one of them, by its number or a tag
  tag RESULT TAG    give it a name; a tag that another result has goes over to this one
  untag TAG         take the name away
  export RESULT     its document, as 'race --json' writes it
  otava RESULT      the figures of all races of its kind, as CSV for Apache Otava
  prune --keep N    remove all but the newest N results and those with a tag

Examples:
  {0} history
  {0} history tag 17 release-1.2
  {0} history export release-1.2 >result.json
  {0} history prune --keep 100

Every race is added, unless it has --no-history. Other commands take a word for a file if there is one: choose
tags that no file has. The file is $XDG_STATE_HOME/joust/history.db, or
~/.local/state/joust/history.db. Beyond 512 MiB the oldest results without a tag are removed.
Exit codes: 0 ok, 1 the history cannot be used, 2 wrong usage, or there is no such result.)",
                             program.name));
  command.callback([history] { history->run(); });
}

}  // namespace joust
