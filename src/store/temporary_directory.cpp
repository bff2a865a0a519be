// SPDX-License-Identifier: MIT
#include "store/temporary_directory.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/check.hpp"

namespace joust {
namespace {

std::string parent() {
  std::error_code ignored;
  if (std::filesystem::is_directory("/dev/shm", ignored)) return "/dev/shm";
  return std::filesystem::temp_directory_path(ignored).string();
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() : path_(parent() + "/joust-XXXXXX") {
  checked(::mkdtemp(path_.data()) == nullptr ? -1 : 0, "mkdtemp({})", path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace joust
