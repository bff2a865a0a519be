// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/protocol.hpp"

// The effects of one side's options on a client that does one operation.
namespace joust::file {

// See Protocol::no_effect and Protocol::repeatable.
std::string no_effect(const std::string& option, Role side, const Parameters& client);
Settings repeatable(Settings server, const Parameters& client);

}  // namespace joust::file
