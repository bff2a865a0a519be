// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace joust {

// Repeats a system call for as long as a signal interrupts it.
template <typename Call>
auto retry_interrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Returns the result of a system call. Throws std::system_error naming the call and its arguments if the
// result is negative. `what` reads like the call: checked(::bind(...), "bind({})", address).
template <typename Result, typename... Args>
Result checked(Result result, fmt::format_string<Args...> what, Args&&... args) {
  if (result >= 0) return result;
  const int error = errno;
  throw std::system_error(error, std::generic_category(), fmt::format(what, std::forward<Args>(args)...));
}

// Checks calls that return an error number instead of setting errno (pthread_*, posix_*).
template <typename... Args>
void checked_number(int error, fmt::format_string<Args...> what, Args&&... args) {
  if (error != 0)
    throw std::system_error(error, std::generic_category(), fmt::format(what, std::forward<Args>(args)...));
}

}  // namespace joust
