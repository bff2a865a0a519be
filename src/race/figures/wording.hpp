// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "race/model/result.hpp"
#include "stats/comparison.hpp"
#include "stats/intervals.hpp"

namespace joust::race {

// Formats a ratio with `decimals` decimals, "1.04". A small number has more decimals, for two significant
// digits: "0.0052". A large number has fewer: "28.4", "2875".
std::string ratio_words(double ratio, int decimals);

// Formats the interval of a ratio: "0.98 to 1.04". Returns "not known" if the interval means as little: it
// contains both directions, and a factor of ten in each.
std::string interval_words(const stats::Interval& interval, int decimals);

// Formats a ratio with its interval: "1.04 (0.98 to 1.10)", "1.04 (not known)". What the ratio is of may
// stand between both: "1.04x the throughput (0.98 to 1.10)".
std::string ratio_with_interval(const stats::Ratio& ratio, int decimals, std::string_view of = {});

// Formats a fraction as a percentage: "4 %".
std::string percent(double fraction, int decimals = 0);

// Formats a spread as a percentage. Above 100 %, the number would show only that the noise is too large to
// distinguish anything.
std::string spread_text(double fraction, int decimals = 0);

// Returns a contestant's name for a list. A name with a comma is in quotes: "cp, 'nginx, curl', rsync".
std::string in_list(const std::string& name);

// Says what was measured: "Loopback: no network was measured.", or the hosts of both sides.
std::string network_sentence(std::span<const HostOfRace> hosts);

// Describes the place of a host on the network: "eth0 (mlx5_core), MTU 9000, 25000 Mbit/s, tso gso gro, round
// trip 31 us".
std::string network_words(const HostOfRace& host);

}  // namespace joust::race
