// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// A contestant's throughput is a lower bound if its client used more than this share of its CPUs. A client
// that is nearly full makes its server wait: the server then finds fewer messages at each wake-up, pays for
// its loop more often, and looks busy whatever it could do. So the server's share decides nothing.
inline constexpr double kClientIsLimit = 0.85;

// Fills in the utilisation of both sides: the CPU time of a message, times the messages per second, divided
// by the CPUs that the side can use at the same time; or, if that is more, the utilisation of its busiest
// thread (known in turns). Its mean over rounds, with an interval. Empty where the CPU time is not known, and
// of a server whose CPU time says more than it has, because it worked beyond the window.
void add_utilisation(const RaceResult& race, CaseResult& one);

// Returns how many CPUs are in a list ("0-3"), to which a side is pinned; 0 if it may use all ("any").
std::size_t count_of_cpus(const std::string& list);

// Returns the utilisation of the client in one trial, at most 1. Empty where it is not known.
std::optional<double> client_utilisation(const CpuPlan& cpus, const Trial& trial);

// Returns whether the client was, or may have been, the limit: the upper end of the interval of its
// utilisation is above kClientIsLimit. Has no meaning for sides that poll.
bool client_is_limit(const Summary& summary);

}  // namespace joust::race
