// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "race/model/result.hpp"

namespace joust::race {

// Returns the conclusion of a case in words: a sentence on each line.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

// Describes the ratios of a case while the race goes on, by the figure that ranks its contestants: "to
// epoll: io-uring 1.04 ± 5 %, threads 0.41 ± 9 %, goal 3 %". After too few rounds the text has no intervals.
// Empty before the first figures. `goal`: half the interval at which the race ends, if that ends it.
std::string interim_text(const CaseResult& one, std::optional<double> goal);

// Returns a warning for each thing that disturbed the latest trials of a case, or made the client their
// limit: "epoll lost 7 % of its CPUs to other virtual machines on this host", "the client of epoll is full
// (93 %)".
std::vector<std::string> interim_warnings(const CaseResult& one, const CpuPlan& cpus);

}  // namespace joust::race
