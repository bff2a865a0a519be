// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "race/model/scenario.hpp"

// Sweeps: a case with a sweep becomes one case for each value of its axis, so that all values race in the
// same rounds, in random order.
namespace joust::race {

inline constexpr std::size_t kMostSweepValues = 64;

// Reads a sweep as text: "connections=1..20".
std::expected<Sweep, std::string> parse_sweep(std::string_view text);

// Reads the values of an axis, separated by commas: numbers with the axis's units (64, 4k, 64KiB), and
// ranges. A range may have a step (1..20+5) or a factor (1..4096x2, 1..4096 x2). Its last value is at most
// the given one. The error names the wrong value and the allowed ones.
std::expected<Sweep, std::string> parse_sweep(std::string_view axis, std::string_view values);

// Returns the error of the case at one of the values of its sweep, if it has one.
std::optional<std::string> check_sweep(const Case& one, const Catalogue& catalogue);

void expand_sweeps(Scenario& scenario);

// Formats a value with the unit of its axis: "64", "64KiB".
std::string sweep_value_text(const std::string& axis, double value);

}  // namespace joust::race
