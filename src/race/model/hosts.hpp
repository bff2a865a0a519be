// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "joust/time.hpp"
#include "measure/environment.hpp"
#include "measure/network_interface.hpp"

namespace joust::race {

// A turn that a host begins later than this counts as late: the ramp of the shortest turn, which is not
// measured, is twice as long.
inline constexpr Duration kLateBegin = std::chrono::milliseconds(2);

// How late a host has begun the turns that it began together with other hosts, by its own clock.
struct Begins {
  std::uint64_t turns = 0, late = 0;
  Duration latest{};

  void add(Duration lateness) {
    ++turns;
    if (lateness > kLateBegin) ++late;
    latest = std::max(latest, lateness);
  }
};

// A host of a race over several hosts, and the network by which it was measured.
struct HostOfRace {
  std::string name{};     // as the race calls it
  std::string machine{};  // as it calls itself
  std::string boot_id{};  // of its kernel: hosts with the same one share their CPUs
  std::string side{};     // "server" or "load"
  std::string cpus{};     // on which its side runs
  std::string address{};  // on the measured network
  NetworkInterface network{};
  // From a load's host to the server's, over the measured network; empty if it is not known.
  std::optional<double> round_trip_s{};
  // The offset of its monotonic clock to the conductor's, and its greatest error. Only of several loads,
  // which begin their turns together.
  std::optional<double> clock_offset_s{}, clock_error_s{};
  std::optional<Begins> begins{};
  Environment environment{};
};

}  // namespace joust::race
