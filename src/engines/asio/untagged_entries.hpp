// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>

// Boost 1.81 does not tag its cancellations. Since liburing 2.2 an untagged entry keeps the tag of the
// operation that used it before. The descriptor of that operation then gets the result of the cancellation,
// as an end of the stream that has not come. So the library is compiled with this function in the place of
// liburing's.
inline io_uring_sqe* joust_untagged_entry(io_uring* ring) {
  io_uring_sqe* const entry = io_uring_get_sqe(ring);
  if (entry != nullptr) io_uring_sqe_set_data(entry, nullptr);
  return entry;
}

#define io_uring_get_sqe joust_untagged_entry
