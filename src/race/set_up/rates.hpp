// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <map>
#include <span>
#include <string>

#include "race/model/scenario.hpp"

// Races at several rates: a case with `rates` becomes one case for each rate. A rate may be a share of the
// capacity. The capacity is measured at the beginning of the race, so that the same rates hold for all
// contestants.
namespace joust::race {

inline constexpr std::size_t kMostRates = 50;

// Reads rates as text: "30%,50%" or "1k,2.5k".
std::expected<std::vector<Rate>, std::string> parse_rates(std::span<const std::string_view> texts);

std::string rate_word(const Rate& rate);  // "30%", "2500"

// Makes a case for each rate. A rate that is a share has no `rate_per_s` yet.
void expand_rates(Scenario& scenario);

// Returns whether the capacity of a case must be measured before its rates are known.
bool needs_capacity(const Scenario& scenario);

// Returns whether it is worth measuring: the rates may be known, but not whether turns suit them.
bool wants_capacity(const Scenario& scenario);

// Returns the race that measures capacities: the cases that want it, once each, in closed loops, in one
// round.
Scenario capacity_race(const Scenario& scenario);

// Sets the capacities, and the rates that are shares, to three digits. The keys of `capacities` are the names
// of the cases in capacity_race(). A case whose capacity is not known stays as it is.
void set_rates(Scenario& scenario, const std::map<std::string, Capacity>& capacities);

}  // namespace joust::race
