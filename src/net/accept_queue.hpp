// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

namespace joust {

// The state of a TCP listener's accept queue, in connections, as the kernel reports it. Empty where it does
// not.
struct AcceptQueue {
  std::optional<std::size_t> length;  // now
  std::optional<int> backlog;         // granted
};

AcceptQueue accept_queue(int listener);

}  // namespace joust
