// SPDX-License-Identifier: MIT
#include "cli/load/byte_dump.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace joust {

std::string byte_dump(Bytes bytes) {
  constexpr std::size_t kColumns = 16, kMostShown = 1024;
  std::string dump;
  for (std::size_t at = 0; at < std::min(bytes.size(), kMostShown); at += kColumns) {
    std::string digits, text;
    for (const std::byte byte : bytes.subspan(at, std::min(kColumns, bytes.size() - at))) {
      const auto value = std::to_integer<unsigned char>(byte);
      digits += fmt::format("{:02x} ", value);
      text += value >= ' ' && value <= '~' ? static_cast<char>(value) : '.';
    }
    dump += fmt::format("  {:06x}  {:<48} |{}|\n", at, digits, text);
  }
  if (bytes.size() > kMostShown) dump += fmt::format("  ... and {} more\n", bytes.size() - kMostShown);
  return dump;
}

}  // namespace joust
