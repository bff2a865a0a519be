// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace joust {

// The reason for every refusal of sessions that would have to share a process, for people.
inline constexpr std::string_view kDifferentProcesses = "unsupported: sessions live in different processes";

}  // namespace joust
