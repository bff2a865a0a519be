// SPDX-License-Identifier: MIT
//
// Calls of liburing, and the operations it submits: one that shall fail is turned into a no-op that completes
// with that result (Linux 6.10), just before it is submitted.
#include <liburing.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "faults/seam.hpp"

namespace joust::faults {
namespace {

// What liburing 2.3 does not know yet (linux/io_uring.h of Linux 6.10).
constexpr std::uint32_t kInjectResult = 1U << 0;  // IORING_NOP_INJECT_RESULT

Call init_call{"io_uring_queue_init_params", {ENOMEM, EMFILE, ENFILE, EPERM, ENOSYS, EINVAL}};
Call buffers_call{"io_uring_register_buf_ring", {ENOMEM, EINVAL}};
Call register_fd_call{"io_uring_register_ring_fd", {ENOMEM, EINVAL}};
Call probe_call{"io_uring_get_probe_ring", {ENOMEM}};
Call submit_call{"io_uring_submit", {EINTR, EAGAIN, EBUSY}};
Call wait_call{"io_uring_submit_and_wait_timeout", {EINTR, EAGAIN, EBUSY}};
Call events_call{"io_uring_submit_and_get_events", {EINTR, EAGAIN, EBUSY}};

struct Operation {
  std::uint8_t code;
  Call call;
};
std::array operations{
    Operation{IORING_OP_ACCEPT, {"uring accept", {ECANCELED, EINTR, EAGAIN, ECONNABORTED, EMFILE, ENOMEM}}},
    Operation{IORING_OP_RECV, {"uring receive", {ENOBUFS, ECANCELED, EINTR, EAGAIN, ENOMEM, ECONNRESET}}},
    Operation{IORING_OP_SEND, {"uring send", {EINTR, EAGAIN, ENOMEM, ECANCELED, EPIPE, kShort}}},
    Operation{IORING_OP_SENDMSG, {"uring sendmsg", {EINTR, EAGAIN, ENOMEM, ECANCELED, EPIPE}}},
    Operation{IORING_OP_POLL_ADD, {"uring poll", {ECANCELED, ENOMEM, EINTR}}},
    Operation{IORING_OP_CONNECT, {"uring connect", {ECONNREFUSED, ENOMEM, EAGAIN, ETIMEDOUT}}},
    Operation{IORING_OP_ASYNC_CANCEL, {"uring cancel", {ENOENT, EALREADY}}},
};

void inject_into(io_uring_sqe& entry) {
  const auto found = std::ranges::find(operations, entry.opcode, &Operation::code);
  if (found == operations.end()) return;
  const int error = found->call.fault();
  if (error == kShort) entry.len = static_cast<std::uint32_t>(fall_short(entry.len));
  if (error <= 0) return;
  const std::uint64_t tag = entry.user_data;
  entry = {};
  entry.opcode = IORING_OP_NOP;
  entry.fd = -1;
  entry.rw_flags = kInjectResult;  // nop_flags
  entry.len = static_cast<std::uint32_t>(-error);
  entry.user_data = tag;
}

// What has been prepared and not been handed over yet.
void inject_into_prepared(const io_uring& ring) {
  const io_uring_sq& queue = ring.sq;
  for (unsigned i = queue.sqe_head; i != queue.sqe_tail; ++i) inject_into(queue.sqes[i & *queue.kring_mask]);
}

}  // namespace
}  // namespace joust::faults

using namespace joust::faults;

extern "C" {

int __real_io_uring_queue_init_params(unsigned, io_uring*, io_uring_params*);
int __wrap_io_uring_queue_init_params(unsigned entries, io_uring* ring, io_uring_params* parameters) {
  const int error = init_call.fault();
  return error > 0 ? -error : __real_io_uring_queue_init_params(entries, ring, parameters);
}

int __real_io_uring_register_buf_ring(io_uring*, io_uring_buf_reg*, unsigned);
int __wrap_io_uring_register_buf_ring(io_uring* ring, io_uring_buf_reg* registration, unsigned flags) {
  const int error = buffers_call.fault();
  return error > 0 ? -error : __real_io_uring_register_buf_ring(ring, registration, flags);
}

int __real_io_uring_register_ring_fd(io_uring*);
int __wrap_io_uring_register_ring_fd(io_uring* ring) {
  const int error = register_fd_call.fault();
  return error > 0 ? -error : __real_io_uring_register_ring_fd(ring);
}

io_uring_probe* __real_io_uring_get_probe_ring(io_uring*);
io_uring_probe* __wrap_io_uring_get_probe_ring(io_uring* ring) {
  return probe_call.fault() > 0 ? nullptr : __real_io_uring_get_probe_ring(ring);
}

int __real_io_uring_submit(io_uring*);
int __wrap_io_uring_submit(io_uring* ring) {
  if (const int error = submit_call.fault(); error > 0) return -error;
  inject_into_prepared(*ring);
  return __real_io_uring_submit(ring);
}

int __real_io_uring_submit_and_wait_timeout(io_uring*, io_uring_cqe**, unsigned, __kernel_timespec*,
                                            sigset_t*);
int __wrap_io_uring_submit_and_wait_timeout(io_uring* ring, io_uring_cqe** first, unsigned count,
                                            __kernel_timespec* time, sigset_t* mask) {
  if (const int error = wait_call.fault(); error > 0) return -error;
  inject_into_prepared(*ring);
  return __real_io_uring_submit_and_wait_timeout(ring, first, count, time, mask);
}

int __real_io_uring_submit_and_get_events(io_uring*);
int __wrap_io_uring_submit_and_get_events(io_uring* ring) {
  if (const int error = events_call.fault(); error > 0) return -error;
  inject_into_prepared(*ring);
  return __real_io_uring_submit_and_get_events(ring);
}
}
