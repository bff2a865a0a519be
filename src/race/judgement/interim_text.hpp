// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Describes the ratios of a case while the race goes on, by the figure that ranks its contestants: "to
// epoll: io-uring 1.04 ± 5 %, threads 0.41 ± 9 %". After too few rounds the text has no intervals. Empty
// before the first figures.
std::string interim_text(const CaseResult& one);

}  // namespace joust::race
