// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"

namespace joust::race {

// Describes how the contestants of a case stand while the race goes on, by the figure that ranks them: "to
// epoll: io-uring 1.04 ± 5 %, threads 0.41 ± 9 %". After too few rounds the text has no intervals. Empty
// before the first figures.
std::string standing_of(const CaseResult& one);

}  // namespace joust::race
