// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/kernel.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "engines/io_uring/ring.hpp"

namespace joust {
namespace {

// The first Linux with rings of provided buffers and multishot accept.
constexpr std::pair kNeeded{5, 19};

// The locked memory that the kernel counts, roughly: for an entry and its place in the queue.
constexpr std::uint64_t kBytesOfSubmission = 64 + 4;
constexpr std::uint64_t kBytesOfCompletion = 16;
constexpr std::uint64_t kBytesOfRing = 12 << 10;  // for the ring itself

// Returns {5, 10} for "5.10.0-28-amd64", and {0, 0} if the text does not begin with two numbers.
std::pair<int, int> version_of(std::string_view release) {
  std::pair<int, int> version{};
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, version.first);
  if (error != std::errc{} || dot == end || *dot != '.') return {};
  std::from_chars(dot + 1, end, version.second);
  return version;
}

std::string release_of_kernel() {
  utsname system{};
  ::uname(&system);
  return system.release;
}

std::uint64_t bytes_of(RingSize size) {
  return kBytesOfRing + kBytesOfSubmission * size.submissions + kBytesOfCompletion * size.completions +
         size.registered;
}

// Returns how many bytes this user may lock; RLIM_INFINITY if it may lock as many as it likes.
rlim_t lockable_bytes() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  const bool known = ::syscall(SYS_capget, &header, sets.data()) == 0;
  rlimit limit{};
  if ((known && (sets[0].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0) ||
      ::getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
    return RLIM_INFINITY;
  return limit.rlim_cur;
}

std::string too_little_to_lock(RingSize size, rlim_t most) {
  return fmt::format(
      "a ring locks about {} KiB of memory, and all rings of this user may lock {} KiB (ulimit -l)",
      bytes_of(size) >> 10, most >> 10);
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

std::string refused_call(std::string_view call, int error, RingSize size) {
  const rlim_t most = lockable_bytes();
  if (error != ENOMEM || most == RLIM_INFINITY) return std::string(call);
  return fmt::format("{}: {}", call, too_little_to_lock(size, most));
}

std::string older_than(std::pair<int, int> version, std::string_view why) {
  const std::string release = release_of_kernel();
  if (version_of(release) >= version) return {};
  return fmt::format("this is Linux {}; needed is {}.{} or newer: {}", release, version.first, version.second,
                     why);
}

namespace {

struct Probed {
  unsigned features = ~0U;
  int napi = 0;  // the result of a registration
};

// The ring is made on a thread of its own: see uring_unavailable().
Probed probe_features() {
  Probed probed;
  std::jthread([&probed] {
    io_uring ring{};
    io_uring_params params{};
    if (io_uring_queue_init_params(1, &ring, &params) < 0) return;
    NapiRegistration napi{.busy_poll_us = 1};
    probed.features = params.features;
    probed.napi = io_uring_register(static_cast<unsigned>(ring.ring_fd), kRegisterNapi, &napi, 1);
    io_uring_queue_exit(&ring);
  }).join();
  return probed;
}

}  // namespace

std::string uring_lacks(UringFeature feature) {
  static const Probed probed = probe_features();
  if (feature == UringFeature::bundles && (probed.features & kHasBundles) == 0)
    return older_than({6, 10}, "it has no bundles (IORING_FEAT_RECVSEND_BUNDLE)");
  if (feature == UringFeature::least_wait && (probed.features & kHasLeastWait) == 0)
    return older_than({6, 12}, "it has no least time of a wait (IORING_FEAT_MIN_TIMEOUT)");
  if (feature == UringFeature::napi && probed.napi < 0)
    return fmt::format("the kernel refuses IORING_REGISTER_NAPI (Linux 6.9 has it): {}",
                       std::generic_category().message(-probed.napi));
  return {};
}

// Tries a small ring only. The memory of a ring that was closed counts for a while, so a large one could take
// the memory of the ring that is needed.
std::string uring_unavailable() {
  const RingSize size{UringSetup{}.submissions, UringSetup{}.completions};
  std::string reason;
  if (const rlim_t most = lockable_bytes(); most < bytes_of(size)) return too_little_to_lock(size, most);
  // Tried on a thread of its own: after a ring has been closed, the kernel interrupts a system call of the
  // thread that made it, and calls with a timeout then return EINTR.
  const auto probed = [&reason] {
    try {
      const Uring probe(
          {.submissions = 1, .completions = 2, .buffers = 1, .buffer_bytes = 64, .filled_buffers = 0});
    } catch (const std::system_error& error) {
      int disabled = 0;
      std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
      reason = error.what() + uring_refusal(error.code().value(), release_of_kernel(), disabled);
    }
  };
  try {
    std::jthread(probed).join();
  } catch (const std::system_error& error) {
    return std::string("no thread can be started to try it: ") + error.what();
  }
  return reason;
}

}  // namespace joust
