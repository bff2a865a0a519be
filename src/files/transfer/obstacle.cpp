// SPDX-License-Identifier: MIT
#include "files/transfer/obstacle.hpp"

#include <fmt/format.h>

#include <system_error>

#include "base/printable.hpp"

namespace joust::transfer {

std::string obstacle_at(const std::filesystem::path& path) {
  using Kind = std::filesystem::file_type;
  std::error_code none;
  const std::string to_output = fmt::format("'-o - > {}' writes into it", printable(path.string()));
  switch (std::filesystem::symlink_status(path, none).type()) {
    case Kind::symlink:
      return "is a symbolic link; name the file that it leads to, or choose another name (-o)";
    case Kind::character:
    case Kind::block:
      return fmt::format("is a device; {}", to_output);
    case Kind::fifo:
      return fmt::format("is a named pipe; {}", to_output);
    case Kind::socket:
      return "is a socket; choose another name (-o)";
    default:
      return {};
  }
}

}  // namespace joust::transfer
