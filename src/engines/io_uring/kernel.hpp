// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace joust {

// The entries and buffers of a ring, which determine its memory.
struct RingSize {
  unsigned submissions;          // entries
  unsigned completions;          // entries
  std::uint64_t registered = 0;  // bytes of buffers that the kernel keeps in memory
};

// Returns why no ring of the engine io-uring can be made here; empty if one can.
std::string uring_unavailable();

// Returns the name of a call that was refused with this errno. If a limit of locked memory may be the cause,
// the text adds this limit and the memory that a ring takes.
std::string refused_call(std::string_view call, int error, RingSize size);

// Returns the likely cause of an error (errno) of io_uring_setup or of a registration, as text to append to
// the error's message. The cause is derived from the kernel's `release` (of uname -r) and the sysctl
// kernel.io_uring_disabled.
std::string uring_refusal(int error, std::string_view release, int disabled);

// Features that a kernel reports, or shows when it is asked for them.
enum class UringFeature : std::uint8_t { bundles, least_wait, napi };

// Returns why the kernel has no such feature; empty if it has it. Empty too if no ring can be made, which
// uring_unavailable() reports.
std::string uring_lacks(UringFeature feature);

// Returns why a kernel older than this version of Linux is too old; empty if this one is not older.
std::string older_than(std::pair<int, int> version, std::string_view why);

// Definitions that liburing 2.3 lacks, from linux/io_uring.h of the kernel that brought each of them. Names
// of the kernel are in the comments: newer headers define them as macros.

// Linux 6.2
inline constexpr unsigned kReportsCopies = 1U << 3;  // IORING_SEND_ZC_REPORT_USAGE
inline constexpr unsigned kWasCopied = 1U << 31;     // IORING_NOTIF_USAGE_ZC_COPIED

// Linux 6.9
inline constexpr unsigned kRegisterNapi = 27;  // IORING_REGISTER_NAPI
struct NapiRegistration {                      // io_uring_napi
  std::uint32_t busy_poll_us = 0;
  std::uint8_t prefer_busy_poll = 0;
  std::array<std::uint8_t, 3> reserved{};
  std::array<std::uint32_t, 2> reserved_too{};
};

// Linux 6.10
inline constexpr unsigned kBundle = 1U << 4;       // IORING_RECVSEND_BUNDLE
inline constexpr unsigned kHasBundles = 1U << 14;  // IORING_FEAT_RECVSEND_BUNDLE

// Linux 6.12
inline constexpr unsigned kHasLeastWait = 1U << 15;  // IORING_FEAT_MIN_TIMEOUT
struct WaitArguments {  // io_uring_getevents_arg, with a field in place of padding
  std::uint64_t signal_mask = 0;
  std::uint32_t signal_mask_size = 0;
  std::uint32_t least_wait_us;  // min_wait_usec
  std::uint64_t timeout;
};
inline constexpr std::uint16_t kFilledBuffers = 2;  // IOU_PBUF_RING_INC
inline constexpr unsigned kGoesOn = 1U << 4;        // IORING_CQE_F_BUF_MORE: the buffer is not full yet
struct BufferRegistration {                         // io_uring_buf_reg, with flags in place of padding
  std::uint64_t ring_address;
  std::uint32_t entries;
  std::uint16_t group;
  std::uint16_t flags;
  std::array<std::uint64_t, 3> reserved;
};

}  // namespace joust
