// SPDX-License-Identifier: MIT
#include "race/set_up/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/set_up/validity.hpp"

namespace joust::race {
namespace {

using Number = std::expected<double, std::string>;

template <typename Parsed>
Number as_number(const Parsed& parsed) {
  if (!parsed) return std::unexpected(parsed.error());
  return static_cast<double>(*parsed);
}

std::uint64_t whole(double value) {
  return static_cast<std::uint64_t>(value);
}

// An axis that can be swept. A rate may have a fraction; the other values are whole.
struct Axis {
  std::string name;
  double least, most;
  Number (*parse)(std::string_view);
  void (*set)(Case&, double);
};

double least_of(const char* setting) {
  return static_cast<double>(load_setting(setting).least);
}
double most_of(const char* setting) {
  return static_cast<double>(load_setting(setting).most);
}

constexpr auto kParseCount = [](std::string_view text) { return as_number(parse_count(text)); };

// Made when it is first asked for, because the settings of a load, which it reads, must be made before.
const std::array<Axis, 5>& all_axes() {
  static const std::array<Axis, 5> axes{{
      {"connections", least_of("connections"), most_of("connections"), kParseCount,
       [](Case& one, double value) { one.load.connections = whole(value); }},
      {"payload", least_of("payload"), most_of("payload"),
       [](std::string_view text) { return as_number(parse_bytes(text)); },
       [](Case& one, double value) { one.load.payload = whole(value); }},
      {"depth", least_of("depth"), most_of("depth"), kParseCount,
       [](Case& one, double value) { one.load.depth = whole(value); }},
      {"threads", 0, static_cast<double>(kMostThreads), kParseCount,
       [](Case& one, double value) { one.server_threads = whole(value); }},
      {"rate", 0.001, 1e9, [](std::string_view text) { return as_number(parse_rate(text)); },
       [](Case& one, double value) { one.load.rate_per_s = value; }},
  }};
  return axes;
}

std::vector<std::string> axis_names() {
  std::vector<std::string> names;
  for (const Axis& axis : all_axes()) names.push_back(axis.name);
  return names;
}

const Axis* find_axis(std::string_view name) {
  const auto* const found = std::ranges::find(all_axes(), name, &Axis::name);
  return found == all_axes().end() ? nullptr : found;
}

Number value_of(const Axis& axis, std::string_view text) {
  const Number value = axis.parse(text);
  if (!value) return value;
  if (*value >= axis.least && *value <= axis.most) return value;
  return std::unexpected(
      fmt::format("{} is out of range; allowed: {} to {}", text, axis.least, grouped(whole(axis.most))));
}

std::string too_many() {
  return fmt::format(
      "more than {} values; allowed: fewer, for instance by a step (1..20+5) or a factor (1..4096x2)",
      kMostSweepValues);
}

// Reads a range "FIRST..LAST", "FIRST..LAST+STEP" or "FIRST..LASTxFACTOR".
std::expected<std::vector<double>, std::string> range_of(const Axis& axis, std::string_view text) {
  const std::size_t dots = text.find("..");
  const std::string_view rest = text.substr(dots + 2);
  const std::size_t sign = rest.find_first_of("x+");
  const Number first = value_of(axis, text.substr(0, dots));
  if (!first) return std::unexpected(first.error());
  const Number last = value_of(axis, rest.substr(0, sign));
  if (!last) return std::unexpected(last.error());
  if (*first > *last)
    return std::unexpected(fmt::format("'{}' goes downwards; allowed: the smaller value first", text));
  const bool by_factor = sign != std::string_view::npos && rest[sign] == 'x';
  double pace = 1;
  if (sign != std::string_view::npos) {
    const Number given = axis.parse(rest.substr(sign + 1));
    if (!given) return std::unexpected(given.error());
    pace = *given;
  }
  if (by_factor ? pace < 2 : pace <= 0)
    return std::unexpected(
        fmt::format("'{}' never ends; allowed: a step of 1 or more, or a factor of 2 or more", text));
  constexpr double kRounding = 1 + 1e-9;
  std::vector<double> values;
  for (double value = *first; value <= *last * kRounding;
       value = by_factor ? value * pace : *first + static_cast<double>(values.size()) * pace) {
    if (values.size() == kMostSweepValues) return std::unexpected(too_many());
    values.push_back(value);
  }
  return values;
}

// Returns one value, or the values of a range.
std::expected<std::vector<double>, std::string> values_of(const Axis& axis, std::string_view part) {
  if (part.empty())
    return std::unexpected(
        fmt::format("{} has an empty value; allowed: values such as 64,512 or 1..20", axis.name));
  if (part.find("..") != std::string_view::npos) return range_of(axis, part);
  const Number value = value_of(axis, part);
  if (!value) return std::unexpected(value.error());
  return std::vector{*value};
}

}  // namespace

std::expected<Sweep, std::string> parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return std::unexpected(
        fmt::format("'{}' is not AXIS=VALUES; allowed: for instance connections=1..20, with an axis of {}",
                    text, join(axis_names())));
  return parse_sweep(text.substr(0, equals), text.substr(equals + 1));
}

std::expected<Sweep, std::string> parse_sweep(std::string_view axis_name, std::string_view list) {
  const Axis* const axis = find_axis(axis_name);
  if (axis == nullptr)
    return std::unexpected(
        not_allowed(fmt::format("there is no axis '{}'", axis_name), std::string(axis_name), axis_names()));
  std::string text(list);
  std::erase(text, ' ');
  Sweep sweep{.axis = axis->name, .values = {}};
  for (const std::string_view part : split(text, ',')) {
    const auto values = values_of(*axis, part);
    if (!values) return std::unexpected(values.error());
    for (const double value : *values) {
      if (std::ranges::count(sweep.values, value) > 0)
        return std::unexpected(fmt::format("{} is given twice", sweep_value_text(axis->name, value)));
      if (sweep.values.size() == kMostSweepValues) return std::unexpected(too_many());
      sweep.values.push_back(value);
    }
  }
  return sweep;
}

namespace {

// Returns the case with this value in place of its own.
Case at_value(const Case& one, const std::string& axis, double value) {
  Case swept = one;
  swept.sweep.reset();
  swept.point = SweepPoint{.axis = axis, .value = value, .of = one.name};
  find_axis(axis)->set(swept, value);
  return swept;
}

}  // namespace

std::optional<std::string> check_sweep(const Case& one, const Catalogue& catalogue) {
  if (!one.sweep) return std::nullopt;
  if (one.sweep->axis == "rate" && !one.rates.empty())
    return "both rates and a sweep over the rate are given; allowed: one of them";
  for (const double value : one.sweep->values) {
    const Case swept = at_value(one, one.sweep->axis, value);
    if (auto problem = check_load(swept)) return problem;
    if (auto problem = check_payload(swept, catalogue)) return problem;
  }
  return std::nullopt;
}

void expand_sweeps(Scenario& scenario) {
  std::vector<Case> cases;
  for (const Case& one : scenario.cases) {
    if (!one.sweep) cases.push_back(one);
    for (const double value : one.sweep ? one.sweep->values : std::vector<double>()) {
      Case swept = at_value(one, one.sweep->axis, value);
      const std::string word =
          fmt::format("{}={}", one.sweep->axis, sweep_value_text(one.sweep->axis, value));
      swept.name = scenario.cases.size() == 1 ? word : fmt::format("{} {}", one.name, word);
      cases.push_back(std::move(swept));
    }
  }
  scenario.cases = std::move(cases);
}

std::string sweep_value_text(const std::string& axis, double value) {
  if (axis == "rate") return fmt::format("{:.10g}", value);
  const std::uint64_t number = whole(value);
  if (axis == "payload")
    for (const auto& [factor, unit] : {std::pair{1ULL << 20, "MiB"}, std::pair{1ULL << 10, "KiB"}})
      if (number >= factor && number % factor == 0) return fmt::format("{}{}", number / factor, unit);
  return fmt::format("{}", number);
}

}  // namespace joust::race
