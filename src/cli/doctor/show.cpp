// SPDX-License-Identifier: MIT
#include "cli/doctor/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"
#include "cli/common/listing.hpp"
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
  return format_duration(Duration(std::llround(number)));
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

Json findings_json(std::span<const Finding> findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"subject", finding.subject},
                    {"level", name_of(finding.level)},
                    {"found", finding.found},
                    {"effect", finding.effect},
                    {"mend", finding.mend},
                    {"undo", finding.undo},
                    {"advice", finding.advice}});
  return list;
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

}  // namespace

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

std::string doctor_json(const Environment& environment, std::span<const Finding> findings,
                        std::span<const FloorFigure> floor) {
  return text_of({{"schema", "joust-doctor/1"},
                  {"environment", to_json(environment)},
                  {"findings", findings_json(findings)},
                  {"floor", floor_json(floor)}},
                 2);
}

}  // namespace joust
