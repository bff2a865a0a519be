// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/ring.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.hpp"
#include "engines/io_uring/kernel.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {
namespace {

// After this long without work the kernel's submitting thread sleeps, and a system call must wake it.
constexpr unsigned kSubmitterIdle_ms = 2000;

// How long the end of a run waits for the last completions; usually microseconds.
constexpr Duration kAbandonAtMost = std::chrono::seconds(1);

// How long a transient refusal of the kernel is retried.
constexpr Duration kMakeRoomAtMost = std::chrono::seconds(1);

constexpr std::uint64_t kUntagged = ~std::uint64_t{0};

// How many completions end a wait with a least time early.
constexpr unsigned kGatheredAtMost = 64;

// The most sockets in the ring's table. Later ones are named by their descriptors.
constexpr rlim_t kTableAtMost = 64 << 10;

void check_ring(int result, const char* call) {
  if (result < 0) checked_number(-result, "{}", call);
}

// Returns true for a refusal that may pass by itself, or after completions have been taken.
bool is_passing(int result) {
  return result == -EINTR || result == -EAGAIN || result == -EBUSY;
}

// The sets of flags to try, best first; each further set is for an older kernel.
std::array<unsigned, 3> flag_sets(const UringSetup& setup) {
  // SUBMIT_ALL: an operation refused at submission does not hold up the next ones.
  constexpr unsigned kAlways = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL;
  // With SQPOLL the loop's thread runs no completion work that could interrupt it.
  if (setup.kernel_submits) {
    constexpr unsigned kThread = kAlways | IORING_SETUP_SQPOLL;
    return {kThread | IORING_SETUP_SINGLE_ISSUER, kThread, IORING_SETUP_CQSIZE | IORING_SETUP_SQPOLL};
  }
  if (setup.task_run == TaskRun::plain) return {kAlways, kAlways, IORING_SETUP_CQSIZE};
  const unsigned watched = setup.watched ? IORING_SETUP_TASKRUN_FLAG : 0;
  const unsigned cooperative = kAlways | IORING_SETUP_COOP_TASKRUN | watched;
  const bool defers = setup.task_run == TaskRun::defer;
  const unsigned deferred = defers ? IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN : 0;
  return {cooperative | deferred, cooperative, IORING_SETUP_CQSIZE};
}

}  // namespace

Uring::Uring(const UringSetup& setup) : setup_(setup) {
  set_up();
  try {
    buffers_.emplace(ring_, setup_);
    set_up_extras();
  } catch (...) {
    io_uring_queue_exit(&ring_);
    throw;
  }
  // Otherwise each enter looks up the descriptor and counts a reference.
  registered_fd_ = io_uring_register_ring_fd(&ring_) >= 0;
  if (!registered_fd_) missing_.emplace_back("registered ring descriptors");
}

// Makes the registrations that some knobs need beside the ring.
void Uring::set_up_extras() {
  if (setup_.send == UringSend::registered) send_slots_.emplace(ring_, setup_);
  if (setup_.direct_descriptors) {
    rlimit files{};
    checked(::getrlimit(RLIMIT_NOFILE, &files), "getrlimit(RLIMIT_NOFILE)");
    table_size_ = static_cast<int>(std::min(files.rlim_cur, kTableAtMost));
    check_ring(io_uring_register_files_sparse(&ring_, static_cast<unsigned>(table_size_)),
               "io_uring_register_files_sparse()");
  }
  if (setup_.napi_us > 0) {
    NapiRegistration napi{.busy_poll_us = setup_.napi_us};
    check_ring(io_uring_register(static_cast<unsigned>(ring_.ring_fd), kRegisterNapi, &napi, 1),
               "io_uring_register(NAPI)");
  }
}

bool Uring::enter_in_table(int socket) {
  return socket < table_size_ &&
         io_uring_register_files_update(&ring_, static_cast<unsigned>(socket), &socket, 1) == 1;
}

void Uring::remove_from_table(int socket) {
  constexpr int kNone = -1;
  io_uring_register_files_update(&ring_, static_cast<unsigned>(socket), &kNone, 1);
}

Uring::~Uring() {
  io_uring_queue_exit(&ring_);
}

void Uring::set_up() {
  int result = -EINVAL;
  const auto sets = flag_sets(setup_);
  for (const unsigned flags : sets) {
    io_uring_params params{};
    params.flags = flags;
    params.cq_entries = setup_.completions;
    params.sq_thread_idle = kSubmitterIdle_ms;
    result =
        retry_for_memory([&] { return io_uring_queue_init_params(setup_.submissions, &ring_, &params); });
    if (result == 0 && flags != sets.front())
      missing_.emplace_back(setup_.kernel_submits ? "single issuer (SINGLE_ISSUER)"
                                                  : "deferred task work (DEFER_TASKRUN)");
    if (result != -EINVAL) break;
  }
  check_locking(result, setup_.kernel_submits ? "io_uring_setup(SQPOLL)" : "io_uring_setup()", setup_);
  // The kernel does not report multishot receive itself, but reports another operation that came with it in
  // Linux 6.0.
  io_uring_probe* const probe = io_uring_get_probe_ring(&ring_);
  if (probe == nullptr || io_uring_opcode_supported(probe, IORING_OP_SEND_ZC) == 0) {
    setup_.multishot_receive = false;
    missing_.emplace_back("multishot receive");
  }
  io_uring_free_probe(probe);
}

io_uring_sqe* Uring::prepare(std::uint64_t tag) {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  const Time until = entry == nullptr ? Clock::now() + kMakeRoomAtMost : Time{};
  while (entry == nullptr) {
    make_room(Clock::now() >= until);
    entry = io_uring_get_sqe(&ring_);
  }
  ++in_flight_;
  entry->user_data = tag;
  return entry;
}

// Submits the prepared operations. The kernel may refuse for a while: a signal, no memory, or completions
// that have not been taken (io_uring_enter(2)).
void Uring::make_room(bool last_try) {
  int result = io_uring_submit(&ring_);
  if (result >= 0 && setup_.kernel_submits) result = io_uring_sqring_wait(&ring_);
  if (!is_passing(result) || last_try) return check_ring(result, "io_uring_submit()");
  set_completions_aside();
  ::sched_yield();
}

void Uring::set_completions_aside() {
  for (unsigned ready = io_uring_cq_ready(&ring_); ready > 0; --ready) {
    io_uring_cqe* next = nullptr;
    io_uring_peek_cqe(&ring_, &next);
    aside_.push_back(*next);
    io_uring_cqe_seen(&ring_, next);
  }
}

void Uring::submit_and_wait(Duration most) {
  buffers_->publish();
  const unsigned flags = IO_URING_READ_ONCE(*ring_.sq.kflags);
  if ((flags & IORING_SQ_CQ_OVERFLOW) != 0) overflowed_ = true;
  int result = 0;
  if (most > Duration::zero() && aside_.empty()) {
    result = wait_at_most(most);
  } else if (setup_.kernel_submits && (flags & IORING_SQ_CQ_OVERFLOW) == 0) {
    result = io_uring_submit(&ring_);  // a system call only if the kernel's thread sleeps
  } else if (!setup_.watched || io_uring_sq_ready(&ring_) > 0 ||
             (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0) {
    result = io_uring_submit_and_get_events(&ring_);
  }
  // After a timeout, a signal or a lack of memory, operations not submitted now go with the next enter.
  if (result != -ETIME && !is_passing(result)) check_ring(result, "io_uring_enter()");
}

int Uring::wait_at_most(Duration most) {
  const timespec time = to_timespec(most);
  __kernel_timespec timeout{.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec};
  if (most > setup_.least_wait && setup_.least_wait > Duration::zero()) return wait_and_gather(timeout);
  io_uring_cqe* first = nullptr;
  return io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr);
}

// Waits for many completions, but after the least wait for one only. liburing has this call since 2.8
// (io_uring_submit_and_wait_min_timeout).
int Uring::wait_and_gather(__kernel_timespec& most) {
  const auto least = std::chrono::duration_cast<std::chrono::microseconds>(setup_.least_wait);
  WaitArguments arguments{.least_wait_us = static_cast<std::uint32_t>(least.count()),
                          .timeout = reinterpret_cast<std::uintptr_t>(&most)};
  // Publishes the prepared entries, as io_uring_submit() does before it enters.
  ring_.sq.sqe_head = ring_.sq.sqe_tail;
  io_uring_smp_store_release(ring_.sq.ktail, ring_.sq.sqe_tail);
  const unsigned submissions = ring_.sq.sqe_tail - IO_URING_READ_ONCE(*ring_.sq.khead);
  const unsigned by_place = registered_fd_ ? IORING_ENTER_REGISTERED_RING : 0;
  return io_uring_enter2(static_cast<unsigned>(ring_.enter_ring_fd), submissions, kGatheredAtMost,
                         IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG | by_place,
                         reinterpret_cast<sigset_t*>(&arguments), sizeof arguments);
}

void Uring::abandon(const std::function<void(const io_uring_cqe&)>& handle) noexcept try {
  const Time until = Clock::now() + kAbandonAtMost;
  while (in_flight_ > 0 && Clock::now() < until) {
    // Repeated, because a cancel does not find an operation that is being executed.
    io_uring_prep_cancel64(prepare(kUntagged), 0, IORING_ASYNC_CANCEL_ANY);
    submit_and_wait(kAbandonAtMost);
    take_completions([&](const io_uring_cqe& cqe) {
      if (cqe.user_data != kUntagged) handle(cqe);
    });
  }
} catch (const std::system_error&) {
  // The destructor closes the ring next. That also cancels, but does not wait.
}

}  // namespace joust
