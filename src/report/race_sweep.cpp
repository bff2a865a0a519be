// SPDX-License-Identifier: MIT
#include "report/race_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "race/set_up/rates.hpp"
#include "race/set_up/sweep.hpp"
#include "report/compared_figure.hpp"
#include "report/race_folded.hpp"
#include "report/race_tables.hpp"

namespace joust::report {

using race::CaseResult;
using race::Entry;
using race::SweepPoint;

namespace {

// Returns the place of a case on a curve. One of several rates has a place like the value of a sweep.
std::optional<SweepPoint> point_of(const race::Case& one) {
  if (one.point || one.one_of.empty() || !one.load.open_loop()) return one.point;
  return SweepPoint{.axis = "rate", .value = one.load.rate_per_s, .of = one.one_of};
}

std::string axis_of(const Curve& curve) {
  return point_of(curve.front()->plan)->axis;
}

// Returns whether two cases are on one curve. Rates within a sweep make a curve for each rate.
bool on_same_curve(const race::Case& one, const race::Case& other) {
  const auto here = point_of(one), there = point_of(other);
  if (here->of != there->of || here->axis != there->axis) return false;
  if (here->axis == "rate") return true;
  return one.rate_share == other.rate_share &&
         (one.load.rate_per_s == other.load.rate_per_s || one.rate_share);
}

}  // namespace

std::vector<Curve> curves_of(const race::RaceResult& race) {
  std::vector<Curve> curves;
  for (const CaseResult& one : race.cases) {
    if (!point_of(one.plan)) continue;
    const auto same = std::ranges::find_if(
        curves, [&](const Curve& curve) { return on_same_curve(curve.front()->plan, one.plan); });
    if (same == curves.end())
      curves.push_back({&one});
    else
      same->push_back(&one);
  }
  return curves;
}

std::string value_text(const race::Case& one) {
  const SweepPoint point = *point_of(one);
  if (point.axis == "payload") return race::sweep_value_text(point.axis, point.value);
  const std::string value = format_rate(point.value);
  if (point.axis != "rate" || !one.rate_share) return value;
  return fmt::format("{} ({})", value, race::rate_word({.share = one.rate_share}));
}

namespace {

constexpr std::size_t kWidestChart = 72;

using Figure = ComparedFigure;

const Figure kThroughput{"messages/s",
                         [](const Entry& entry) { return median(entry.summary.throughput_per_s); },
                         format_count, true};
const Figure kBytes{"MB/s", [](const Entry& entry) { return entry.summary.mb_per_s; }, plain_number, true};

const Figure& first_figure(const Curve& curve) {
  if (curve.front()->ranked_by_latency()) return p99_figure();
  const bool files = std::ranges::any_of(curve, [](const CaseResult* one) { return carries_files(*one); });
  return files ? kBytes : kThroughput;
}

std::vector<std::string> names_of(const Curve& curve) {
  std::vector<std::string> names;
  for (const Entry& entry : curve.front()->entries)
    if (entry.is_contestant()) names.push_back(entry.contestant.name);
  return names;
}

Table table_of(const Curve& curve, const Figure& figure) {
  const std::vector<std::string> names = names_of(curve);
  std::vector<std::string> values;
  for (const CaseResult* one : curve) values.push_back(value_text(one->plan));
  return crossed(axis_of(curve), values, names, [&](std::size_t value, std::size_t name) {
    return cell_text(race::find_entry(*curve[value], names[name]), figure);
  });
}

char letter(std::size_t contestant) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return contestant < kLetters.size() ? kLetters[contestant] : '?';
}

double greatest(const Curve& curve, const Figure& figure) {
  double most = 0;
  for (const CaseResult* one : curve)
    for (const Entry& entry : one->entries)
      if (entry.is_contestant()) most = std::max(most, figure.value(entry).value_or(0));
  return most;
}

// Draws a row for each value, with the letter of each contestant at the place of its figure.
std::string chart(const Curve& curve, const Figure& figure, const Terminal& terminal) {
  const std::vector<std::string> names = names_of(curve);
  const double most = greatest(curve, figure);
  if (curve.size() < 2 || most <= 0) return {};
  std::size_t label = width_of(axis_of(curve));
  for (const CaseResult* one : curve) label = std::max(label, width_of(value_text(one->plan)));
  const std::string end = figure.text(most);
  const std::size_t beside = label + 6;
  const std::size_t width = std::min(kWidestChart, terminal.columns - std::min(terminal.columns, beside));
  if (width < 2 * width_of(end)) return {};
  std::string text = fmt::format("  {}  0{}\n", left("", label), right(end, width - 1));
  bool several = false;
  for (const CaseResult* one : curve) {
    std::string line(width, ' ');
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Entry* const entry = race::find_entry(*one, names[i]);
      const auto value = entry == nullptr ? std::nullopt : figure.value(*entry);
      if (!value) continue;
      char& place =
          line[static_cast<std::size_t>(std::lround(*value / most * static_cast<double>(width - 1)))];
      several |= place != ' ';
      place = place == ' ' ? letter(i) : '*';
    }
    text += fmt::format("  {} │{}│\n", right(value_text(one->plan), label), line);
  }
  std::string legend = "    ";
  for (std::size_t i = 0; i < names.size(); ++i)
    legend += fmt::format("{}{}: {}", i == 0 ? "" : "  ", letter(i), names[i]);
  if (several) legend += "  *: several";
  return text + painted(wrapped(legend, 4, terminal.columns), Paint::dim, terminal) + "\n";
}

std::string curve_text(const Curve& curve, bool only_one, const Terminal& terminal) {
  const SweepPoint point = *point_of(curve.front()->plan);
  const std::string of = only_one ? "" : point.of + ": ";
  const Figure* const figures[] = {&first_figure(curve), &compared_cost(*curve.front())};
  std::string text = is_folded(curve) ? folded_head(curve, terminal) : "";
  for (const Figure* figure : figures) {
    text +=
        painted(fmt::format("{}{} over {}", of, figure->title, point.axis), Paint::bold, terminal) + "\n\n";
    text += terminal_text(table_of(curve, *figure), terminal) + "\n";
    if (const std::string drawn = chart(curve, *figure, terminal); !drawn.empty()) text += drawn + "\n";
  }
  if (std::ranges::any_of(
          curve, [](const CaseResult* one) { return std::ranges::any_of(one->entries, in_brackets); }))
    text += brackets_text(is_folded(curve) ? "below" : "the case", terminal) + "\n";
  return is_folded(curve) ? text + folded_checks(curve, terminal) : text;
}

}  // namespace

std::string sweeps_text(const race::RaceResult& race, const Terminal& terminal) {
  const std::vector<Curve> curves = curves_of(race);
  std::string text;
  for (const Curve& curve : curves) text += curve_text(curve, curves.size() == 1, terminal);
  return text.empty() ? text : "\n" + text;
}

}  // namespace joust::report
