// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"

namespace joust::race {

// How the contestants of a case stand while the race goes on, by what it ranks: "to epoll: io-uring 1.04 ± 5
// %, threads 0.41 ± 9 %"; without intervals after too few rounds. Empty before the first figures.
std::string standing_of(const CaseResult& one);

}  // namespace joust::race
