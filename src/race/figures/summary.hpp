// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Fills in the summary of every entry, without the ratios. If the case's reference has no result, the first
// contestant that has one becomes the reference.
void summarize(CaseResult& one);

// A contestant's throughput is a lower bound if its client used more than this share of the CPUs that it
// could use. A client that is nearly full makes its server wait: the server then finds fewer messages at each
// wake-up, pays for its loop more often, and looks busy whatever it could do. So the server's share decides
// nothing.
inline constexpr double kClientIsLimit = 0.85;

// Fills in the utilisation of both sides: the CPU time of a message, times the messages per second, divided
// by the CPUs that the side can use at the same time; or, if that is more, the utilisation of its busiest
// thread (known in turns). Its mean over rounds, with an interval. Empty where the CPU time is not known, and
// of a server whose CPU time says more than it has, because it worked beyond the window.
void add_utilisation(const RaceResult& race, CaseResult& one);

// Returns how many CPUs are in a list ("0-3"), to which a side is pinned; 0 if it may use all ("any").
std::size_t count_of_cpus(const std::string& list);

// Returns the utilisation of the client in one trial, at most 1, of what strangers left of its CPUs. Empty
// where it is not known.
std::optional<double> client_utilisation(const CpuPlan& cpus, const Trial& trial, double strangers = 0);

// Whether the client was the limit of a contestant.
enum class ClientLimit : std::uint8_t {
  no,      // its utilisation is not known, or the interval lies below kClientIsLimit
  yes,     // the interval lies above it
  unknown  // the interval contains it; or one round alone, which has no interval, is above it
};
// Has no meaning for sides that poll. `strangers`: the share of the client's CPUs that they used. Where that
// is more than kStrangers, a client waits for its CPU, and how long is not known.
ClientLimit client_limit(const Summary& summary, double strangers);

// Returns the throughput of the slowest contestant in each case of a pilot, by the case's name. A case in
// which nothing was measured has no entry.
std::map<std::string, Capacity> capacities_of(const RaceResult& pilot);

}  // namespace joust::race
