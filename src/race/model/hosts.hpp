// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "measure/environment.hpp"
#include "measure/network_interface.hpp"

namespace joust::race {

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
  Environment environment{};
};

}  // namespace joust::race
