// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// The entries of a ring, which determine its memory.
struct RingSize {
  unsigned submissions;
  unsigned completions;
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

}  // namespace joust
