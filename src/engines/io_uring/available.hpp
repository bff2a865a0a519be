// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace joust {

// The entries and buffers of a ring, which determine its memory.
struct RingSize {
  unsigned submissions;         // entries
  unsigned completions;         // entries
  std::uint64_t registered = 0;  // bytes of buffers that the kernel keeps in memory
};

// Returns why no ring of the engine io-uring can be made here; empty if one can.
std::string uring_unavailable();

// Returns the name of a call that was refused with this errno. If a limit of locked memory may be the cause,
// the text adds this limit and the memory that a ring takes.
std::string refused_call(std::string_view call, int error, RingSize size);

// Returns the likely cause of an error (errno) of io_uring_setup or of a registration, as text to append to
// the error's message. The cause is derived from the kernel's `release` (of uname -r) and the sysctl
// kernel.io_uring_disabled.
std::string uring_refusal(int error, std::string_view release, int disabled);

// Features that a kernel reports, or shows when it is asked for them.
enum class UringFeature : std::uint8_t { bundles, least_wait, napi };

// Returns why the kernel has no such feature; empty if it has it. Empty too if no ring can be made, which
// uring_unavailable() reports.
std::string uring_lacks(UringFeature feature);

// Returns why a kernel older than this version of Linux is too old; empty if this one is not older.
std::string older_than(std::pair<int, int> version, std::string_view why);

}  // namespace joust
