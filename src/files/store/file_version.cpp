// SPDX-License-Identifier: MIT
#include "files/store/file_version.hpp"

#include <sys/stat.h>
#include <time.h>

#include <limits>

#include "base/check.hpp"
#include "base/system/files.hpp"

namespace joust {
namespace {

#ifdef CLOCK_REALTIME_COARSE
constexpr clockid_t kStampClock = CLOCK_REALTIME_COARSE;
#else
constexpr clockid_t kStampClock = CLOCK_REALTIME;
#endif

#ifndef __APPLE__
timespec modified(const struct stat& facts) {
  return facts.st_mtim;
}
timespec changed(const struct stat& facts) {
  return facts.st_ctim;
}
#else
timespec modified(const struct stat& facts) {
  return facts.st_mtimespec;
}
timespec changed(const struct stat& facts) {
  return facts.st_ctimespec;
}
#endif

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Nanoseconds since 1970. Times beyond the years 1677 and 2262 become kMost or -kMost.
std::int64_t nanoseconds(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t seconds = time.tv_sec;
  if (seconds >= kMost / kSecond) return kMost;
  if (seconds <= -kMost / kSecond) return -kMost;
  return seconds * kSecond + time.tv_nsec;
}

}  // namespace

bool is_beyond(std::int64_t time_ns) {
  return time_ns == kMost || time_ns <= -kMost;
}

FileVersion version_of(int fd) {
  struct stat facts {};
  checked(::fstat(fd, &facts), "fstat()");
  return version_of(facts);
}

FileVersion version_of(const struct stat& facts) {
  return {.device = static_cast<std::uint64_t>(facts.st_dev),
          .inode = facts.st_ino,
          .size = static_cast<std::uint64_t>(facts.st_size),
          .modified_ns = nanoseconds(modified(facts)),
          .changed_ns = nanoseconds(changed(facts)),
          .mode = static_cast<std::uint32_t>(facts.st_mode & kPermissionBits)};
}

// Uses the birth time too, because the inode number of a removed directory is soon given to another one.
std::optional<FileVersion> identity_of_folder(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return std::nullopt;
  return FileVersion{.device = static_cast<std::uint64_t>(facts.st_dev),
                     .inode = facts.st_ino,
                     .modified_ns = birth_time_ns(fd)};
}

std::int64_t wall_clock_ns() {
  timespec now{};
  checked(::clock_gettime(kStampClock, &now), "clock_gettime()");
  return nanoseconds(now);
}

}  // namespace joust
