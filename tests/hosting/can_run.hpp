// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"
#include "sanitized.hpp"

namespace joust::test {

// True for engines that can run here. Not so for libuv under the thread sanitizer: it closes descriptors by a
// system call that TSan does not see, which then takes the next descriptor of that number for the old one.
inline bool can_run(const Engine& engine) {
  if (is_thread_sanitized() && engine.name == "libuv") return false;
  return engine.unavailable == nullptr || engine.unavailable().empty();
}

}  // namespace joust::test
