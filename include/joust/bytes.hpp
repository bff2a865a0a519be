// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace joust {

// A view of bytes that another object owns.
using Bytes = std::span<const std::byte>;

// as_bytes() and as_text() return a view of the argument's memory, valid as long as that memory.
inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>{text.data(), text.size()});
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns true for equal sizes and contents. Uses memcmp, because std::ranges::equal over std::byte does not
// compile to it.
inline bool same_bytes(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace joust
