// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/printable.hpp"

namespace joust::http {

// Returns the beginning of a server's text, for a complaint.
inline std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 60;  // bytes
  return printable(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

}  // namespace joust::http
