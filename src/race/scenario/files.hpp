// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace joust::race {

struct Scenario;

// Files that whole commands move from one folder to another, in place of a load.
struct FilePlan {
  std::uint64_t count = 1;
  std::uint64_t bytes = 0;    // of each
  std::string on = "memory";  // where both folders are: memory or disk
  auto operator<=>(const FilePlan&) const = default;

  std::uint64_t all_bytes() const { return count * bytes; }
};

inline constexpr std::uint64_t kMostFiles = 100'000;
inline constexpr std::uint64_t kMostBytesOfFiles = 1ULL << 40;  // of all together

// The words for FilePlan::on, and the folder that a word stands for.
std::span<const std::string> file_places();
std::string folder_of(const FilePlan& files);

// "10,000 files of 16 kB in memory (/dev/shm)"
std::string files_text(const FilePlan& files);

// The bytes that these files take, and those of other cases of the race in the same place, where they fit.
std::uint64_t room_for(const FilePlan& files);
std::uint64_t room_beside(const Scenario& scenario, const FilePlan& files,
                          const std::function<bool(const FilePlan&)>& fits);

// What is wrong with cases that move files, or with contestants that do: who would never take part, and cases
// without contestants.
std::optional<std::string> check_files(const Scenario& scenario);

}  // namespace joust::race
