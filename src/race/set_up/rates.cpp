// SPDX-License-Identifier: MIT
#include "race/set_up/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/units.hpp"

namespace joust::race {
namespace {

constexpr Duration kLongestPilot = std::chrono::milliseconds(500);

std::expected<Rate, std::string> parse_one(std::string_view text) {
  if (text.ends_with('%')) {
    const auto share = parse_percent(text);
    if (!share) return std::unexpected(share.error());
    return Rate{.share = *share};
  }
  const auto per_s = parse_rate(text);
  if (!per_s) return std::unexpected(per_s.error());
  return Rate{.per_s = *per_s};
}

Case at_rate(const Case& all, const Rate& rate, bool only_case) {
  Case one = all;
  one.one_of = all.name;
  one.name = only_case ? rate_word(rate) : fmt::format("{} {}", all.name, rate_word(rate));
  one.rates.clear();
  one.load.rate_per_s = rate.per_s.value_or(0);
  one.rate_share = rate.share;
  return one;
}

double to_three_digits(double rate) {
  const double unit = std::pow(10, std::floor(std::log10(rate)) - 2);
  return unit < 1 ? std::round(rate * std::round(1 / unit)) / std::round(1 / unit)
                  : std::round(rate / unit) * unit;
}

// Returns the name under which the capacity of a case is measured, once for all rates.
const std::string& name_of_load(const Case& one) {
  if (!one.one_of.empty()) return one.one_of;
  return one.point && one.point->axis == "rate" ? one.point->of : one.name;
}

// Returns whether the capacity decides how the case is measured. A length of turns that is given asks for
// turns.
bool is_wanted(const Case& one, const Scenario& scenario) {
  if (one.capacity || one.files) return false;
  if (one.rate_share) return true;
  return one.load.open_loop() && scenario.turns && !scenario.turn && one.load.phase == LoadPlan().phase;
}

}  // namespace

std::expected<std::vector<Rate>, std::string> parse_rates(std::span<const std::string_view> texts) {
  std::vector<Rate> rates;
  if (texts.size() > kMostRates)
    return std::unexpected(fmt::format("{} rates are too many; allowed: {}", texts.size(), kMostRates));
  for (const std::string_view text : texts) {
    const auto rate = parse_one(text);
    if (!rate) return std::unexpected(rate.error() + "; allowed: rates (5k) or shares of the capacity (30%)");
    if (std::ranges::count(rates, *rate) > 0)
      return std::unexpected(fmt::format("'{}' is given twice", text));
    rates.push_back(*rate);
  }
  return rates;
}

std::string rate_word(const Rate& rate) {
  return rate.share ? fmt::format("{:.6g}%", *rate.share * 100) : fmt::format("{}", *rate.per_s);
}

void expand_rates(Scenario& scenario) {
  std::vector<Case> cases;
  for (const Case& one : scenario.cases) {
    if (one.rates.empty()) cases.push_back(one);
    for (const Rate& rate : one.rates) cases.push_back(at_rate(one, rate, scenario.cases.size() == 1));
  }
  scenario.cases = std::move(cases);
}

bool needs_capacity(const Scenario& scenario) {
  return std::ranges::any_of(scenario.cases,
                             [](const Case& one) { return one.rate_share && !one.load.open_loop(); });
}

bool wants_capacity(const Scenario& scenario) {
  return std::ranges::any_of(scenario.cases, [&](const Case& one) { return is_wanted(one, scenario); });
}

Scenario capacity_race(const Scenario& scenario) {
  Scenario pilot = scenario;
  pilot.rounds = 1;
  pilot.quick = true;
  pilot.cases.clear();
  std::set<std::string> known;
  for (const Case& each : scenario.cases) {
    if (!is_wanted(each, scenario) || !known.insert(name_of_load(each)).second) continue;
    Case one = each;
    one.name = name_of_load(each);
    replace({{"interval", "0"}}, {}, one);
    one.load.duration = std::min(one.load.duration, kLongestPilot);
    pilot.cases.push_back(std::move(one));
  }
  return pilot;
}

void set_rates(Scenario& scenario, const std::map<std::string, Capacity>& capacities) {
  for (Case& one : scenario.cases) {
    const auto capacity = capacities.find(name_of_load(one));
    if (!one.open_loop() || capacity == capacities.end()) continue;
    one.capacity = capacity->second;
    if (one.rate_share) one.load.rate_per_s = to_three_digits(*one.rate_share * capacity->second.per_s);
  }
}

}  // namespace joust::race
