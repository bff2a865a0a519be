// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "session/found_cutter.hpp"

namespace joust {

// Whether a message may also be a command in words, as people type it: "GET key".
enum class InlineCommands : std::uint8_t { refused, taken };

// Finds a value of RESP, versions 2 and 3: the protocol of Redis and Valkey.
std::unique_ptr<Finder> resp_finder(InlineCommands inlines = InlineCommands::refused);

}  // namespace joust
