// SPDX-License-Identifier: MIT
#include "cli/common/result_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

namespace joust {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw std::runtime_error(fmt::format("--json {}: cannot be written", path));
}

}  // namespace

void ensure_writable(const std::string& path) {
  if (!std::ofstream(path, std::ios::app)) refuse(path);
}

void write_result(const std::string& path, std::string_view text) {
  std::ofstream file(path);
  if (!(file << text).flush()) refuse(path);
}

}  // namespace joust
