// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/plugin.h"
#include "joust/protocol.hpp"

namespace joust {

// Returns what a table lacks, in words; empty if it can be used.
std::string objection_to(const joust_protocol_v1& table);

// Makes a protocol of a table without objection, which outlives it.
Protocol protocol_of(const joust_protocol_v1& table);

}  // namespace joust
