// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Names the contestant to choose by a judged case, with the reason: "io-uring: a message costs 0.830x (0.810
// to 0.850) the server CPU time of epoll". The figure that ranks the case comes first; contestants that it
// does not tell apart are compared by cost. Where neither tells, says that any of them will do if they are
// equal, and otherwise what would decide. Concludes nothing that the verdict of the case does not.
struct Advice {
  std::string text{};
  bool names_one = false;  // or says that they are equal: then nobody has to guess
};
Advice advice_of(const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
