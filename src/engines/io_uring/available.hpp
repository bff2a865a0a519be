// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// Why there can be no ring here, or empty.
std::string uring_unavailable();

// The likely cause of an error (errno) of io_uring_setup or of what a ring registers, in words that follow
// the error's own: from the kernel's `release` (of uname -r) and the sysctl kernel.io_uring_disabled.
std::string uring_refusal(int error, std::string_view release, int disabled);

}  // namespace joust
