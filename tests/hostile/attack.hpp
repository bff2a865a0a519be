// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "hostile/setting.hpp"

namespace joust::hostile {

// Runs the setting's engine as a server, in this process, under hostile peers and honest clients, stops it,
// and returns the faults that have shown: wrong replies, honest clients cut off against the rules, a broken
// contract of Session, books that do not add up, and whatever was left behind. Ends the program when the
// engine hangs.
std::vector<std::string> attack_server(const Setting& setting);

// The same for the setting's engine as the client side of a load, against a server that resets, sends
// garbage, trickles, stays silent, leaves in the middle of a reply, or accepts nobody for a while.
std::vector<std::string> attack_client(const Setting& setting);

// By the setting's role.
std::vector<std::string> attack(const Setting& setting);

}  // namespace joust::hostile
