// SPDX-License-Identifier: MIT
#include "race/model/files.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust::race {

std::span<const std::string> file_places() {
  static const std::array<std::string, 2> kWords{"memory", "disk"};
  return kWords;
}

// The disk's folder is not /tmp, which is in memory on many systems.
std::string folder_of(const FilePlan& files) {
  return files.on == "memory" ? "/dev/shm" : "/var/tmp";
}

std::string files_text(const FilePlan& files) {
  return fmt::format("{} of {}{}, {} ({})", counted(files.count, "file"), format_size(files.bytes),
                     files.count == 1 ? "" : " each", files.on == "memory" ? "in memory" : "on the disk",
                     folder_of(files));
}

std::uint64_t room_for(const FilePlan& files) {
  constexpr std::uint64_t kSpareOfFile = 8 << 10;  // for blocks, names and folders
  return files.all_bytes() + files.count * kSpareOfFile;
}

}  // namespace joust::race
