// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// What a file server's open files are for (RLIMIT_NOFILE, `ulimit -n`). All limits of uploads and connections
// that come from it are made of these numbers; a test counts the descriptors of each kind of upload.
namespace joust::descriptors {

// The file, its lock, its journal (from the first MiB on) and the folder of its name. A file that comes whole
// has neither lock nor journal.
inline constexpr std::uint64_t kOfUpload = 4;
inline constexpr std::uint64_t kOfWhole = 2;
// Its socket, and a file that is fetched.
inline constexpr std::uint64_t kOfConnection = 2;
// A pipe, through which the kernel moves bytes into a file: one for each thread that receives.
inline constexpr std::uint64_t kOfPipe = 2;
// While a file gets its name: its folder once more, and two of those on the way. Two threads do that.
inline constexpr std::uint64_t kOfNaming = 2 * 3;

// A quarter of all is for uploads and an eighth for whole files that wait for the disk. The rest is for the
// server itself, for names, and for connections: more of them than may bring files at a time, because who
// waits for that has to be told so.
constexpr std::uint64_t uploads_of(std::uint64_t limit) {
  return limit < 16 ? 1 : limit / 4 / kOfUpload;
}
constexpr std::uint64_t waiting_of(std::uint64_t limit) {
  return limit < 16 ? 1 : limit / 8 / kOfWhole;
}

}  // namespace joust::descriptors
