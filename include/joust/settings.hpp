// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace joust {

// The two sides of a connection: `serve` accepts it, `dial` makes it.
enum class Role : std::uint8_t { serve, dial };

// Values by name: the knobs of an engine, the options of a protocol.
using Settings = std::map<std::string, std::string, std::less<>>;

}  // namespace joust
