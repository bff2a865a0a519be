// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

// Definitions that liburing 2.3 lacks, from linux/io_uring.h of the kernel that brought each of them. Names
// of the kernel are in the comments: newer headers define them as macros.
namespace joust {

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
