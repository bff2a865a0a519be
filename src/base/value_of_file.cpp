// SPDX-License-Identifier: MIT
#include "base/value_of_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/printable.hpp"

namespace joust {

std::expected<std::string, std::string> value_of_file(const std::string& path) {
  constexpr std::size_t kMostBytes = 16 << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof())
    return std::unexpected(
        fmt::format("'{}' cannot be read: {}", printable(path), std::strerror(errno == 0 ? EIO : errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes)
    return std::unexpected(fmt::format("'{}' has more than {} bytes", printable(path), kMostBytes));
  return text;
}

}  // namespace joust
