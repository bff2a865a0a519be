// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// Why no ring can be made here; empty if one can.
std::string uring_unavailable();

// The likely cause of an error (errno) of io_uring_setup or of a registration, as text to append to the
// error's message. Derived from the kernel's `release` (of uname -r) and the sysctl kernel.io_uring_disabled.
std::string uring_refusal(int error, std::string_view release, int disabled);

}  // namespace joust
