// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "doctor/facts.hpp"
#include "doctor/findings.hpp"
#include "doctor/floor.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

using doctor::Finding;
using doctor::FloorFigure;
using doctor::Level;
using Json = nlohmann::ordered_json;

// Returns the second line: the commands, or the advice.
std::string remedy_of(const Finding& finding) {
  if (finding.mend.empty()) return finding.advice;
  const std::string undo = finding.undo.empty() ? "nothing" : finding.undo;
  const std::string advice = finding.advice.empty() ? "" : fmt::format("   ({})", finding.advice);
  return fmt::format("mend: {}   undo: {}{}", finding.mend, undo, advice);
}

std::string two_lines(const Finding& finding) {
  return fmt::format("{} {}: {}; {}\n    {}\n", finding.level == Level::warning ? '!' : '-', finding.subject,
                     finding.found, finding.effect, remedy_of(finding));
}

std::string heading(std::span<const Finding> findings) {
  const auto number = [&](Level level) {
    return static_cast<std::uint64_t>(std::ranges::count(findings, level, &Finding::level));
  };
  const std::uint64_t warnings = number(Level::warning), notes = number(Level::note);
  if (warnings + notes == 0) return "Nothing distorts a race on this machine.\n";
  return fmt::format("What distorts a race (!) or limits it (-) on this machine: {}, {}\n\n",
                     counted(warnings, "warning"), counted(notes, "note"));
}

std::string amount(double number, std::string_view unit) {
  constexpr double kWholeNanoseconds = 100;  // from here on three digits need no part of one
  if (unit != "ns") return format_speed(number);
  if (number < kWholeNanoseconds) return fmt::format("{:.1f} ns", number);
  return format_ns(number);
}

std::string floor_table(std::span<const FloorFigure> floor) {
  std::vector<std::vector<std::string>> rows{{"", "MEDIAN", "80 % BETWEEN", ""}};
  for (const FloorFigure& figure : floor) {
    const std::string words(figure.words);
    if (!figure.spread) {
      rows.push_back({words, "-", "-", "not measured: " + figure.spread.error()});
      continue;
    }
    rows.push_back({words, amount(figure.spread->median, figure.unit),
                    fmt::format("{} and {}", amount(figure.spread->low, figure.unit),
                                amount(figure.spread->high, figure.unit)),
                    std::string(figure.what)});
  }
  return columns(rows);
}

Json floor_json(std::span<const FloorFigure> floor) {
  Json list = Json::array();
  for (const FloorFigure& figure : floor) {
    Json row{{"name", figure.key}, {"unit", figure.unit}, {"what", figure.what}};
    if (figure.spread) {
      row["median"] = figure.spread->median;
      row["p10"] = figure.spread->low;
      row["p90"] = figure.spread->high;
      row["samples"] = figure.spread->samples;
    } else {
      row["missing"] = figure.spread.error();
    }
    list.push_back(std::move(row));
  }
  return list;
}

// Returns the text for people: warnings and notes in two lines each, what is in order, the floor.
std::string doctor_text(std::span<const Finding> findings, std::span<const FloorFigure> floor) {
  std::string text = heading(findings);
  for (const Level level : {Level::warning, Level::note})
    for (const Finding& finding : findings)
      if (finding.level == level) text += two_lines(finding);
  std::vector<std::vector<std::string>> good;
  std::vector<std::string> unknown;
  for (const Finding& finding : findings) {
    if (finding.level == Level::good) good.push_back({"", std::string(finding.subject), finding.found});
    if (finding.level == Level::unknown) unknown.emplace_back(finding.subject);
  }
  if (!good.empty()) text += "\nIn order:\n" + columns(good);
  if (!unknown.empty()) text += fmt::format("\nNot known here: {}\n", join(unknown));
  return text + "\nThe floor, whatever the engine:\n" + floor_table(floor);
}

// Returns the document that docs/doctor.schema.json describes.
std::string doctor_json(const Environment& environment, std::span<const Finding> findings,
                        std::span<const FloorFigure> floor) {
  return text_of({{"schema", "joust-doctor/1"},
                  {"environment", to_json(environment)},
                  {"findings", to_document(findings)},
                  {"floor", floor_json(floor)}},
                 2);
}

// The moment in which others are watched: long enough for the kernel's clock, which ticks every 10 ms.
constexpr std::chrono::milliseconds kWatching{500};

// Throws where nothing could be looked at.
void ensure_something(std::span<const doctor::Finding> findings, std::span<const doctor::FloorFigure> floor) {
  const bool knows = std::ranges::any_of(
      findings, [](const auto& finding) { return finding.level != doctor::Level::unknown; });
  const bool measured = std::ranges::any_of(floor, [](const auto& figure) { return !!figure.spread; });
  if (!knows && !measured) throw std::runtime_error("nothing can be looked at: is /proc readable?");
}

void examine(bool as_json) {
  doctor::Facts facts = doctor::read_facts();
  doctor::watch_others(facts, kWatching);
  const auto before = read_machine_cpu();
  const std::vector<doctor::FloorFigure> floor = doctor::measure_floor(facts.cpus);
  if (const auto now = read_machine_cpu(); now && before) facts.use.measuring = *now - *before;
  const std::vector<doctor::Finding> findings = doctor::findings(facts);
  ensure_something(findings, floor);
  print_list(as_json ? doctor_json(facts.environment, findings, floor)
                     : for_people(doctor_text(findings, floor)));
}

}  // namespace

void add_doctor(Command root, const Program& program, int& /*exit_code*/) {
  Command command =
      root.add_command("doctor", "Say what distorts a race on this machine, and measure its floor");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON (joust-doctor/1)");
  command.footer(fmt::format(R"(Examples:
  {0} doctor
  {0} doctor --json

Takes about two seconds, and changes nothing. Each finding has two lines: its effect on a race; the command
that mends it, and the one that undoes that. The floor is what a system call, a wake-up, a copy and a
stream take here, whatever the engine. The exit code is 0, whatever is found.)",
                             program.name));
  command.callback([json] { examine(*json); });
}

}  // namespace joust
