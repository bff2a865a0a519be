// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/page/faces.hpp"
#include "report/page/tables.hpp"

namespace joust::report::page {
namespace {

// Escapes text within a line: what Markdown or HTML would take for markup. An @ would call a person of that
// name on some sites, so an invisible blank of no width follows it.
std::string md(std::string_view text) {
  std::string out;
  for (const char c : printable(text, "\n\\")) switch (c) {
      case '\n':
        out += ' ';
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '@':
        out += "@\u200B";
        break;
      default:
        if (std::string_view("\\`*_[]|~#").contains(c)) out += '\\';
        out += c;
    }
  return out;
}

std::string md_table(const Table& table) {
  std::string head = "|", line = "|", rows;
  for (const Table::Column& column : table.columns) {
    head += fmt::format(" {} |", md(column.title));
    line += column.text ? " :-- |" : " --: |";
  }
  for (const Table::Row& row : table.rows) {
    rows += "|";
    for (const std::string& cell : row.cells) rows += fmt::format(" {} |", md(cell));
    rows += "\n";
  }
  return fmt::format("{}\n{}\n{}", head, line, rows);
}

// Returns a block of code whose fence is longer than any in it.
std::string md_code(std::string_view kind, std::string_view code) {
  std::size_t most = 2, now = 0;
  for (const char c : code) most = std::max(most, now = c == '`' ? now + 1 : 0);
  const std::string fence(most + 1, '`');
  return fmt::format("{}{}\n{}\n{}\n", fence, kind, printable(code, "\n\\"), fence);
}

// Lists what limits the answer, each with its remedy, and counts the checks.
std::string md_causes(const Document& document) {
  std::string text;
  std::size_t passed = 0, all = 0;
  for (const Case& load_case : document.cases) {
    const std::string where = document.cases.size() > 1 ? fmt::format("{}: ", md(load_case.name)) : "";
    for (const race::Cause& cause : *load_case.causes)
      text += fmt::format("- {}**{}.** {}\n", where, md(cause.sentence), md(cause.remedy));
    passed += static_cast<std::size_t>(std::ranges::count(load_case.checks, Verdict::PASS, &Check::verdict));
    all += load_case.checks.size();
  }
  return fmt::format("{}{}{} of {} passed.\n", text, text.empty() ? "" : "\n", passed, counted(all, "check"));
}

// Returns a sentence on each line, between marks; the lines after the first are indented.
std::string md_sentences(std::string_view verdict, std::string_view indent, std::string_view mark) {
  std::string text;
  for (const std::string_view sentence : split(verdict, '\n'))
    text +=
        fmt::format("{0}{1}{2}{1}", text.empty() ? "" : fmt::format("\\\n{}", indent), mark, md(sentence));
  return text;
}

// Returns the verdict; with several cases a list of theirs.
std::string md_verdict(const Document& document) {
  if (document.cases.size() == 1) return md_sentences(document.race.verdict, "", "**") + "\n";
  std::string list;
  for (const Case& load_case : document.cases)
    list += fmt::format("- **{}**: {}\n", md(load_case.name), md_sentences(load_case.verdict, "  ", ""));
  return list;
}

std::string md_facts(const Document& document) {
  std::string text = fmt::format("joust {}, {}, seed {}", document.race.joust,
                                 counted(document.race.rounds, "round"), document.race.seed);
  for (const auto& [name, value] : document.race.environment)
    if (name == "cpu_model" || name == "kernel")
      text += fmt::format(", {} {}", name == "kernel" ? "kernel" : "CPU", value);
  return md(text + ". " + *document.race.network) + "\n";
}

}  // namespace

std::string markdown_text(const Document& document) {
  std::string text = md_verdict(document) + "\n";
  if (!document.race.complete) text += fmt::format("INCOMPLETE: {}\n\n", md(document.race.incomplete));
  if (document.race.exit_code && document.fails())
    text += fmt::format("Exit code {}: {}\n\n", *document.race.exit_code, md(*document.race.exit_reason));
  for (const Threshold& threshold : *document.race.thresholds)
    if (!document.race.exit_reason->contains(threshold.sentence)) text += md(threshold.sentence) + "\n\n";
  std::vector<Table> tables;
  for (const Case& load_case : document.cases) {
    text += document.cases.size() > 1
                ? fmt::format("{} ({})\n\n", md(heading_of(load_case)), md(load_case.load_words))
                : fmt::format("{}\n\n", md(load_case.load_words));
    text += md_table(tables.emplace_back(results_of(load_case))) + "\n";
  }
  const std::vector<std::string> marks = marks_in(tables);
  for (const std::string& mark : marks) text += md(mark) + "\n";
  if (!marks.empty()) text += "\n";
  text += md_causes(document) + "\n";
  if (!document.race.command_line.empty())
    text += fmt::format("To run it again:\n\n{}\n", md_code("sh", document.command()));
  return text + md_facts(document);
}

}  // namespace joust::report::page
