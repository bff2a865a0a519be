// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "race/model/hosts.hpp"

namespace joust::race {

// Says what was measured: "Loopback: no network was measured.", or the hosts of both sides.
std::string network_sentence(std::span<const HostOfRace> hosts);

// Describes the place of a host on the network: "eth0 (mlx5_core), MTU 9000, 25000 Mbit/s, tso gso gro, round
// trip 31 us".
std::string network_words(const HostOfRace& host);

}  // namespace joust::race
