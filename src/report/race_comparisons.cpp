// SPDX-License-Identifier: MIT
#include "report/race_comparisons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/scenario/engine_choice.hpp"
#include "race/set_up/rates.hpp"
#include "race/set_up/sweep.hpp"
#include "report/race_table.hpp"
#include "report/row_order.hpp"
#include "report/table.hpp"

namespace joust::report {
namespace {

using race::CaseResult;
using race::CheckResult;
using race::Entry;
using race::SweepPoint;
using race::Verdict;

std::optional<double> median(const std::optional<race::Estimate>& estimate) {
  return estimate ? std::optional(estimate->median) : std::nullopt;
}

std::optional<double> latency_of_rounds(const Entry& entry, const race::LatencyFigure& figure) {
  if (const auto rounds = median(entry.summary.latency_by_round.*figure.estimate)) return rounds;
  return figure.of(entry.summary.latency);
}

bool carries_files(const CaseResult& one) {
  return std::ranges::any_of(one.entries,
                             [](const Entry& entry) { return entry.summary.mb_per_s.has_value(); });
}

// Figures of contestants that are compared over cases, or over clients and servers.
struct ComparedFigure {
  std::string title;
  std::optional<double> (*value)(const race::Entry&);
  std::string (*text)(double);
  bool may_be_bound;  // a bound if the load was the limit
};

// The 99th percentile of latency, as in the table of a case: the median of the rounds.
const ComparedFigure& p99_figure() {
  static const ComparedFigure figure{
      "p99 latency", [](const Entry& entry) { return latency_of_rounds(entry, race::kP99Latency); },
      format_ns, false};
  return figure;
}

// The figure by which costs are compared: CPU time of the server, or of both sides of a command that moves
// files.
const ComparedFigure& compared_cost(const CaseResult& one) {
  static const ComparedFigure of_server{"server CPU us/message",
                                        [](const Entry& entry) {
                                          const auto cost = median(entry.summary.server_cpu_us_per_message);
                                          return cost ? cost : entry.summary.cpu_us_per_message.server;
                                        },
                                        plain_number, false};
  static const ComparedFigure of_command{
      "CPU us/file of both sides",
      [](const Entry& entry) { return median(entry.summary.cost_us_per_message); }, plain_number, false};
  return one.plan.files ? of_command : of_server;
}

// Returns the figure of an entry, which may be null: in brackets if the entry is not ranked, marked if it is
// a bound.
std::string cell_text(const Entry* entry, const ComparedFigure& figure) {
  const auto value = entry == nullptr ? std::nullopt : figure.value(*entry);
  if (!value) return kNone;
  if (!entry->ranked) return fmt::format("({})", figure.text(*value));
  return (figure.may_be_bound ? bound_mark(entry->at_least, entry->limit_unknown) : "") + figure.text(*value);
}

// Returns whether the figure of an entry is in brackets: it is a contestant with results, and is not ranked.
bool in_brackets(const Entry& entry) {
  return entry.is_contestant() && !entry.ranked && entry.summary.trials > 0;
}

// Returns a line that explains the brackets, and names the place of the reason.
std::string brackets_text(std::string_view place, const Terminal& terminal) {
  return painted(fmt::format("    in brackets: not ranked, see {}", place), Paint::dim, terminal) + "\n";
}

constexpr double kSeconds = 10;  // the time over which published comparisons count

std::optional<double> messages_in_all(const Entry& entry) {
  const auto per_s = median(entry.summary.throughput_per_s);
  return per_s ? std::optional(*per_s * kSeconds) : std::nullopt;
}

std::string label(EngineChoice choice) {
  if (!choice.threads_given) choice.threads = 1;
  return race::describe(choice);
}

// Returns the contestants of the matrix. A pair that occurs several times has a column of its own each time;
// otherwise only one would be shown.
std::vector<Crossing> crossings_of(const CaseResult& one) {
  std::vector<Crossing> all;
  for (std::size_t i = 0; i < one.entries.size(); ++i) {
    const Entry& entry = one.entries[i];
    if (!entry.is_contestant() || entry.contestant.external() || entry.in_process) continue;
    const std::string client = label(entry.contestant.client);
    std::vector<std::string> taken;
    for (const Crossing& other : all)
      if (other.client == client) taken.push_back(other.server);
    all.push_back({client, race::free_name(label(entry.contestant.server), taken), i});
  }
  drop_lonely(all);
  return all;
}

}  // namespace

std::string matrix_text(const CaseResult& one, const Terminal& terminal) {
  if (one.plan.point) return {};
  const std::vector<Crossing> all = crossings_of(one);
  if (all.empty()) return {};
  const ComparedFigure rate{fmt::format("messages per {} s", kSeconds), messages_in_all, format_count, true};
  const ComparedFigure* const figures[] = {one.ranked_by_latency() ? &p99_figure() : &rate,
                                           &compared_cost(one)};
  std::string text = "\n";
  for (const ComparedFigure* figure : figures) {
    const Table table =
        crossed(all, [&](std::size_t number) { return cell_text(&one.entries[number], *figure); });
    text += painted(one.plan.name + ": " + figure->title, Paint::bold, terminal) + "\n\n" +
            terminal_text(table, terminal) + "\n";
  }
  if (std::ranges::any_of(all, [&](const Crossing& each) { return in_brackets(one.entries[each.number]); }))
    text += brackets_text("the case", terminal);
  return text;
}

namespace {

// The cases of one sweep, in the order of their values. Several rates are a sweep over the rate.
using Curve = std::vector<const CaseResult*>;

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

// Formats the value of a case of a curve: "64", "64KiB", "1,000". A rate that is a share of the capacity is
// "4,500 (30%)".
std::string value_text(const race::Case& one) {
  const SweepPoint point = *point_of(one);
  if (point.axis == "payload") return race::sweep_value_text(point.axis, point.value);
  const std::string value = format_rate(point.value);
  if (point.axis != "rate" || !one.rate_share) return value;
  return fmt::format("{} ({})", value, race::rate_word({.share = one.rate_share}));
}

// A page for each value of a long sweep would hide the curve, so the tables and checks of its cases are
// folded to one line for each problem. The JSON has all of them.
constexpr std::size_t kMostUnfolded = 6;
constexpr std::size_t kFoldIndent = 9;

std::string line(const char* word, Paint paint, const std::string& text, const Terminal& terminal) {
  return fmt::format("  {} {}\n", painted(left(word, 6), paint, terminal),
                     wrapped(text, kFoldIndent, terminal.columns));
}

std::string refusals_of(const CaseResult& one) {
  std::vector<std::string> refusals;
  for (const CheckResult& check : one.checks)
    if (check.verdict == Verdict::refuse)
      refusals.push_back(fmt::format("{} {}: {}", check.id, check.title, check.detail));
  return join(refusals, "; ");
}

// Returns the warnings by the number of the check: its title, and the values at which it warned.
std::map<int, std::pair<std::string, std::vector<std::string>>> warnings_of(const Curve& curve) {
  std::map<int, std::pair<std::string, std::vector<std::string>>> warnings;
  for (const CaseResult* one : curve)
    for (const CheckResult& check : one->checks) {
      if (check.verdict != Verdict::warn) continue;
      auto& [title, values] = warnings[check.id];
      title = check.title;
      values.push_back(value_text(one->plan));
    }
  return warnings;
}

bool is_folded(const Curve& curve) {
  return curve.size() > kMostUnfolded;
}

// Returns the description of the first case, for the place before the tables over the values.
std::string folded_head(const Curve& curve, const Terminal& terminal) {
  const std::string text =
      fmt::format("{} points, the first: {}", curve.size(), load_text(curve.front()->plan));
  return painted(wrapped(text, 0, terminal.columns), Paint::dim, terminal) + "\n\n";
}

// Returns a line for each value at which a check refused something, and one for each check that only warned.
std::string folded_checks(const Curve& curve, const Terminal& terminal) {
  std::string text;
  for (const CaseResult* one : curve)
    if (const std::string refusals = refusals_of(*one); !refusals.empty())
      text += line("REFUSE", Paint::red, fmt::format("{}: {}", value_text(one->plan), refusals), terminal);
  for (const auto& [id, warned] : warnings_of(curve)) {
    const auto& [title, values] = warned;
    const std::string where = values.size() == curve.size() ? "at every point" : "at " + join(values, " ");
    text += line("WARN", Paint::yellow, fmt::format("{} {}: {}", id, title, where), terminal);
  }
  if (text.empty()) text = line("PASS", Paint::green, "every check of every point", terminal);
  const std::string more = "    the latencies, checks and verdict of every point are in the result of --json";
  return text + painted(wrapped(more, 4, terminal.columns), Paint::dim, terminal) + "\n\n";
}

constexpr std::size_t kWidestChart = 72;

const ComparedFigure kThroughput{"messages/s",
                                 [](const Entry& entry) { return median(entry.summary.throughput_per_s); },
                                 format_count, true};
const ComparedFigure kBytes{"MB/s", [](const Entry& entry) { return entry.summary.mb_per_s; }, plain_number,
                            true};

const ComparedFigure& first_figure(const Curve& curve) {
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

Table table_of(const Curve& curve, const ComparedFigure& figure) {
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

double greatest(const Curve& curve, const ComparedFigure& figure) {
  double most = 0;
  for (const CaseResult* one : curve)
    for (const Entry& entry : one->entries)
      if (entry.is_contestant()) most = std::max(most, figure.value(entry).value_or(0));
  return most;
}

// Draws a row for each value, with the letter of each contestant at the place of its figure.
std::string chart(const Curve& curve, const ComparedFigure& figure, const Terminal& terminal) {
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
  const ComparedFigure* const figures[] = {&first_figure(curve), &compared_cost(*curve.front())};
  std::string text = is_folded(curve) ? folded_head(curve, terminal) : "";
  for (const ComparedFigure* figure : figures) {
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

std::set<const CaseResult*> folded_cases(const race::RaceResult& race) {
  std::set<const CaseResult*> folded;
  for (const Curve& curve : curves_of(race))
    if (is_folded(curve)) folded.insert(curve.begin(), curve.end());
  return folded;
}

std::string sweeps_text(const race::RaceResult& race, const Terminal& terminal) {
  const std::vector<Curve> curves = curves_of(race);
  std::string text;
  for (const Curve& curve : curves) text += curve_text(curve, curves.size() == 1, terminal);
  return text.empty() ? text : "\n" + text;
}

}  // namespace joust::report
