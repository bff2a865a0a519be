// SPDX-License-Identifier: MIT
#include "engines/io_uring/available.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "engines/io_uring/ring.hpp"

namespace joust {
namespace {

// The first Linux with rings of provided buffers and multishot accept.
constexpr std::pair kNeeded{5, 19};

// "5.10.0-28-amd64" is {5, 10}; {0, 0} if it does not begin with two numbers.
std::pair<int, int> version_of(std::string_view release) {
  std::pair<int, int> version{};
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, version.first);
  if (error != std::errc{} || dot == end || *dot != '.') return {};
  std::from_chars(dot + 1, end, version.second);
  return version;
}

}  // namespace

std::string uring_refusal(int error, std::string_view release, int disabled) {
  if (disabled > 0) return fmt::format(" (sysctl kernel.io_uring_disabled is {})", disabled);
  const std::pair version = version_of(release);
  if (version != std::pair{0, 0} && version < kNeeded)
    return fmt::format(" (this is Linux {}; needed is {}.{} or newer)", release, kNeeded.first,
                       kNeeded.second);
  if (error == EPERM || error == ENOSYS)
    return fmt::format(" (Linux {} has io_uring; a seccomp profile may forbid it, as containers' often do)",
                       release);
  return {};
}

#ifdef JOUST_HAVE_LIBURING

std::string uring_unavailable() {
  std::string reason;
  // On a thread of its own: after a ring has been closed, the kernel interrupts a system call of the thread
  // that made it, and calls with a timeout then return EINTR.
  const auto probed = [&reason] {
    try {
      const Uring probe(
          {.submissions = 1, .completions = 2, .buffers = 1, .buffer_bytes = 64, .filled_buffers = 0});
    } catch (const std::system_error& error) {
      int disabled = 0;
      std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
      utsname system{};
      ::uname(&system);
      reason = error.what() + uring_refusal(error.code().value(), system.release, disabled);
    }
  };
  try {
    std::jthread(probed).join();
  } catch (const std::system_error& error) {
    return std::string("no thread can be started to try it: ") + error.what();
  }
  return reason;
}

#else

std::string uring_unavailable() {
  return "liburing not found at build time: script/setup uring && script/build";
}

#endif

}  // namespace joust
