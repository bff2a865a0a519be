// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>

namespace joust::race {

// Files that whole commands move from one folder to another, in place of a load.
struct FilePlan {
  std::uint64_t count = 1;
  std::uint64_t bytes = 0;    // size of each file
  std::string on = "memory";  // place of both folders: memory or disk
  auto operator<=>(const FilePlan&) const = default;

  std::uint64_t all_bytes() const { return count * bytes; }
};

inline constexpr std::uint64_t kMostFiles = 100'000;
inline constexpr std::uint64_t kMostBytesOfFiles = 1ULL << 40;  // bytes of all files together

// Return the words for FilePlan::on, and the folder that a word stands for.
std::span<const std::string> file_places();
std::string folder_of(const FilePlan& files);

// Describes the files: "10,000 files of 16 kB in memory (/dev/shm)".
std::string files_text(const FilePlan& files);

// Returns the bytes that these files take.
std::uint64_t room_for(const FilePlan& files);

}  // namespace joust::race
