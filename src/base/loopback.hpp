// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace joust {

// Returns true for the text of a loopback address without a port: "127.1.2.3", "::1", "::ffff:127.0.0.1".
// Returns false for shorter forms, such as "127.1", and for names.
bool is_loopback_address(std::string_view text);

}  // namespace joust
