// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

namespace joust {

// What the kernel tells of a TCP listener's accept queue, in connections. Empty where it does not tell.
struct AcceptQueue {
  std::optional<std::size_t> length;  // now
  std::optional<int> backlog;         // granted
};

AcceptQueue accept_queue(int listener);

}  // namespace joust
