// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/result.hpp"

namespace joust::race {

// Shares of the CPU time that each side could use, in the mean over trials; above 1 only by rounding. 0 where
// they are not known.
struct CpuShares {
  double client = 0, server = 0;
  // True if the client's CPU is full and the server's is not. Has no meaning for sides that poll.
  bool client_is_limit() const;
};
CpuShares cpu_shares(const RaceResult& race, const Entry& entry);

// Returns whether a side is always busy because it polls.
bool spins(const Entry& entry);

}  // namespace joust::race
