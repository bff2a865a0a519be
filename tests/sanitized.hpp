// SPDX-License-Identifier: MIT
#pragma once

namespace joust::test {

// True with a sanitizer, which manages memory itself and makes everything slow: simulations, whose numbers
// are those of any build, are then short.
consteval bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

// True with the sanitizer of threads.
consteval bool is_thread_sanitized() {
#if defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

}  // namespace joust::test
