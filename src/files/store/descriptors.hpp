// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// The use of a file server's descriptors (RLIMIT_NOFILE, `ulimit -n`). All limits of uploads and connections
// that follow from that limit are computed from these numbers; a test counts the descriptors of each kind of
// upload.
namespace joust::descriptors {

// The file, its lock, its journal (from the first MiB on) and the folder of its name. A file that is sent
// whole has neither lock nor journal.
inline constexpr std::uint64_t kOfUpload = 4;
inline constexpr std::uint64_t kOfWhole = 2;
// The socket of a connection, and a file that is fetched.
inline constexpr std::uint64_t kOfConnection = 2;
// A pipe, through which the kernel moves bytes into a file: one for each thread that receives.
inline constexpr std::uint64_t kOfPipe = 2;
// The descriptors that are needed while a file gets its name: its folder once more, and two directories on
// its path. Two threads do that.
inline constexpr std::uint64_t kOfNaming = 2 * 3;

// A quarter of all descriptors is for uploads, and an eighth for whole files that wait for the disk. The rest
// is for the server itself, for names, and for connections. More connections are accepted than may send files
// at a time, because a peer that has to wait must get an answer that says so.
constexpr std::uint64_t uploads_of(std::uint64_t limit) {
  return limit < 16 ? 1 : limit / 4 / kOfUpload;
}
constexpr std::uint64_t waiting_of(std::uint64_t limit) {
  return limit < 16 ? 1 : limit / 8 / kOfWhole;
}

}  // namespace joust::descriptors
