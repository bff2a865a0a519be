// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace joust::http {

// The value of Content-Type for a file, by the end of its name.
std::string_view media_type(std::string_view name);

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kHtml = "text/html; charset=utf-8";

}  // namespace joust::http
