// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace joust {

// True for the text of a loopback address, without a port: "127.1.2.3", "::1", "::ffff:127.0.0.1". False for
// shorter ways to write it, such as "127.1", and for names.
bool is_loopback_address(std::string_view text);

}  // namespace joust
