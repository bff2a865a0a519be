// SPDX-License-Identifier: MIT
#include "engines/common/uring.hpp"

#ifdef JOUST_HAVE_LIBURING

#include <sched.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/check.hpp"
#include "engines/common/patience.hpp"

namespace joust {
namespace {

// After this long without work the kernel's submitting thread sleeps, and has to be woken by a system call.
constexpr unsigned kSubmitterIdle_ms = 2000;

// Ending a run waits this long for the kernel to let go of everything; it takes microseconds.
constexpr Duration kAbandonAtMost = std::chrono::seconds(1);

// What the kernel refuses for a while it is asked again for so long.
constexpr Duration kMakeRoomAtMost = std::chrono::seconds(1);

constexpr std::uint64_t kUntagged = ~std::uint64_t{0};

// liburing 2.3 has io_uring_register_buf_ring only; the mapping is ours to make.
std::byte* map(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap({})", bytes);
  return static_cast<std::byte*>(memory);
}

void check_ring(int result, const char* call) {
  if (result < 0) checked_number(-result, "{}", call);
}

// A refusal that may pass by itself, or when completions have been taken.
bool is_passing(int result) {
  return result == -EINTR || result == -EAGAIN || result == -EBUSY;
}

// The flags to ask for, best first; each further set is what an older kernel has.
std::array<unsigned, 3> flag_sets(const UringSetup& setup) {
  // SUBMIT_ALL: one operation refused at submission does not keep back those behind it.
  constexpr unsigned kAlways = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL;
  // With a submitting thread in the kernel there is no interrupting of ours to be avoided.
  if (setup.kernel_submits) {
    constexpr unsigned kThread = kAlways | IORING_SETUP_SQPOLL;
    return {kThread | IORING_SETUP_SINGLE_ISSUER, kThread, IORING_SETUP_CQSIZE | IORING_SETUP_SQPOLL};
  }
  const unsigned watched = setup.watched ? IORING_SETUP_TASKRUN_FLAG : 0;
  const unsigned cooperative = kAlways | IORING_SETUP_COOP_TASKRUN | watched;
  const unsigned deferred = setup.deferred_work ? IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN : 0;
  return {cooperative | deferred, cooperative, IORING_SETUP_CQSIZE};
}

}  // namespace

ProvidedBuffers::ProvidedBuffers(io_uring& ring, unsigned count, std::size_t bytes)
    : count_(count),
      bytes_(bytes),
      ring_bytes_(count * sizeof(io_uring_buf)),
      memory_(map(ring_bytes_ + count * bytes)),
      ring_(reinterpret_cast<io_uring_buf_ring*>(memory_)) {
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring_);
  registration.ring_entries = count;
  registration.bgid = kGroup;
  const int result = io_uring_register_buf_ring(&ring, &registration, 0);
  if (result < 0) ::munmap(memory_, ring_bytes_ + count_ * bytes_);
  check_ring(result, "io_uring_register_buf_ring()");
  io_uring_buf_ring_init(ring_);
  for (unsigned id = 0; id < count; ++id) add(id);
  publish();
}

ProvidedBuffers::~ProvidedBuffers() {
  ::munmap(memory_, ring_bytes_ + count_ * bytes_);
}

Bytes ProvidedBuffers::chunk(const io_uring_cqe& cqe) const {
  return {buffer(cqe.flags >> IORING_CQE_BUFFER_SHIFT), static_cast<std::size_t>(cqe.res)};
}

void ProvidedBuffers::give_back(const io_uring_cqe& cqe) {
  add(cqe.flags >> IORING_CQE_BUFFER_SHIFT);
}

void ProvidedBuffers::add(unsigned id) {
  io_uring_buf_ring_add(ring_, buffer(id), static_cast<unsigned>(bytes_), static_cast<unsigned short>(id),
                        io_uring_buf_ring_mask(count_), unpublished_++);
}

void ProvidedBuffers::publish() {
  io_uring_buf_ring_advance(ring_, std::exchange(unpublished_, 0));
}

Uring::Uring(const UringSetup& setup) : setup_(setup) {
  set_up();
  try {
    buffers_.emplace(ring_, setup_.buffers, setup_.buffer_bytes);
  } catch (...) {
    io_uring_queue_exit(&ring_);
    throw;
  }
  // Without it each enter looks the descriptor up and counts a reference.
  if (io_uring_register_ring_fd(&ring_) < 0) missing_.emplace_back("registered ring descriptors");
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
    result = io_uring_queue_init_params(setup_.submissions, &ring_, &params);
    if (result == 0 && flags != sets.front())
      missing_.emplace_back(setup_.kernel_submits ? "single issuer (SINGLE_ISSUER)"
                                                  : "deferred task work (DEFER_TASKRUN)");
    if (result != -EINVAL) break;
  }
  check_ring(result, setup_.kernel_submits ? "io_uring_setup(SQPOLL)" : "io_uring_setup()");
  // A kernel does not say whether it knows multishot receive, but what came with it in Linux 6.0 can be asked
  // for.
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

// Hands over what is prepared. The kernel may refuse for a while: a signal, no memory, or completions that
// nobody has taken (io_uring_enter(2)).
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
    const timespec time = to_timespec(most);
    __kernel_timespec timeout{.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec};
    io_uring_cqe* first = nullptr;
    result = io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr);
  } else if (!setup_.watched || io_uring_sq_ready(&ring_) > 0 ||
             (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0) {
    result = io_uring_submit_and_get_events(&ring_);
  }
  // Nothing in time, a signal, or no memory just now: what was not submitted goes with the next enter.
  if (result != -ETIME && !is_passing(result)) check_ring(result, "io_uring_enter()");
}

void Uring::abandon(const std::function<void(const io_uring_cqe&)>& handle) noexcept try {
  const Time until = Clock::now() + kAbandonAtMost;
  while (in_flight_ > 0 && Clock::now() < until) {
    // Again each time: what is just being carried out is not found.
    io_uring_prep_cancel64(prepare(kUntagged), 0, IORING_ASYNC_CANCEL_ANY);
    submit_and_wait(kAbandonAtMost);
    take_completions([&](const io_uring_cqe& cqe) {
      if (cqe.user_data != kUntagged) handle(cqe);
    });
  }
} catch (const std::system_error&) {
  // A destructor calls this. Closing the ring, which comes next, cancels too; only nobody waits for it.
}

std::string uring_unavailable() {
  std::string reason;
  // On a thread of its own: when a ring has been closed, the kernel interrupts a system call of the thread
  // that made it, and those with a time limit answer EINTR to that.
  std::jthread([&reason] {
    try {
      const Uring probe({.submissions = 1, .completions = 2, .buffers = 1, .buffer_bytes = 64});
    } catch (const std::system_error& error) {
      reason = error.what();
    }
  }).join();
  int level = 0;
  if (!reason.empty() && std::ifstream("/proc/sys/kernel/io_uring_disabled") >> level && level > 0)
    reason += " (sysctl kernel.io_uring_disabled is " + std::to_string(level) + ")";
  return reason;
}

}  // namespace joust

#else

std::string joust::uring_unavailable() {
  return "liburing not found at build time";
}

#endif
