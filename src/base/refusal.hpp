// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// Throw std::invalid_argument for a value of the user's: "--status: '9xx' is no list of statuses".
// `where`: as people write it, `option`: without the dashes.
[[noreturn]] void refuse(std::string_view where, const std::string& what);
[[noreturn]] void refuse_option(std::string_view option, const std::string& what);

}  // namespace joust
