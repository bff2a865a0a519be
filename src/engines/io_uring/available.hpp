// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// The entries of a ring, by which its memory is counted.
struct RingSize {
  unsigned submissions;
  unsigned completions;
};

// Why no ring can be made here, of the size that the engine io-uring has or of another one; empty if one can.
std::string uring_unavailable();
std::string uring_unavailable(RingSize size);

// The name of a call that was refused with this errno. Where there is a limit of locked memory that may be
// the cause, says how much it is and how much a ring takes.
std::string refused_call(std::string_view call, int error, RingSize size);

// The likely cause of an error (errno) of io_uring_setup or of a registration, as text to append to the
// error's message. Derived from the kernel's `release` (of uname -r) and the sysctl kernel.io_uring_disabled.
std::string uring_refusal(int error, std::string_view release, int disabled);

}  // namespace joust
