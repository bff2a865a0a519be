// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/io_uring/ring.hpp"

#ifdef JOUST_HAVE_LIBURING

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "engines/io_uring/available.hpp"
#include "engines/loop/wait_strategy.hpp"

namespace joust {
namespace {

// After this long without work the kernel's submitting thread sleeps, and a system call must wake it.
constexpr unsigned kSubmitterIdle_ms = 2000;

// How long the end of a run waits for the last completions; usually microseconds.
constexpr Duration kAbandonAtMost = std::chrono::seconds(1);

// How long a transient refusal of the kernel is retried.
constexpr Duration kMakeRoomAtMost = std::chrono::seconds(1);

constexpr Duration kMemoryAtMost = std::chrono::milliseconds(100);

constexpr std::uint64_t kUntagged = ~std::uint64_t{0};

// Definitions missing in liburing 2.3 (linux/io_uring.h of Linux 6.12).
constexpr std::uint16_t kFilledBuffers = 2;  // IOU_PBUF_RING_INC
constexpr unsigned kGoesOn = 1U << 4;        // IORING_CQE_F_BUF_MORE: the buffer is not full yet
struct BufferRegistration {                  // io_uring_buf_reg, with flags in place of padding
  std::uint64_t ring_address;
  std::uint32_t entries;
  std::uint16_t group;
  std::uint16_t flags;
  std::array<std::uint64_t, 3> reserved;
};

// liburing 2.3 has io_uring_register_buf_ring, but does not map the memory.
std::byte* map(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap({})", bytes);
  return static_cast<std::byte*>(memory);
}

void check_ring(int result, const char* call) {
  if (result < 0) checked_number(-result, "{}", call);
}

// The same check for calls that lock memory.
void check_made(int result, const char* call, const UringSetup& setup) {
  if (result < 0)
    checked_number(-result, "{}", refused_call(call, -result, {setup.submissions, setup.completions}));
}

// Repeats a call while no memory can be locked. The memory of a ring that was closed just before, such as the
// probing one, is given back a moment later.
template <typename Call>
int retry_for_memory(Call&& call) {
  const Time until = Clock::now() + kMemoryAtMost;
  int result = call();
  while (result == -ENOMEM && Clock::now() < until) {
    ::sched_yield();
    result = call();
  }
  return result;
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
  const unsigned watched = setup.watched ? IORING_SETUP_TASKRUN_FLAG : 0;
  const unsigned cooperative = kAlways | IORING_SETUP_COOP_TASKRUN | watched;
  const unsigned deferred = setup.deferred_work ? IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN : 0;
  return {cooperative | deferred, cooperative, IORING_SETUP_CQSIZE};
}

}  // namespace

ProvidedBuffers::ProvidedBuffers(io_uring& ring, const UringSetup& setup)
    : ring_bytes_(std::max(setup.buffers, setup.filled_buffers) * sizeof(io_uring_buf)),
      all_bytes_(ring_bytes_ +
                 std::max(setup.buffers * setup.buffer_bytes, setup.filled_buffers * setup.filled_bytes)),
      used_(std::max(setup.buffers, setup.filled_buffers)),
      memory_(map(all_bytes_)),
      ring_(reinterpret_cast<io_uring_buf_ring*>(memory_)) {
  int result = -EINVAL;
  if (setup.filled_buffers > 0 && setup.multishot_receive && !setup.kernel_submits)
    result = register_ring(ring, setup.filled_buffers, setup.filled_bytes, true);
  if (result == -EINVAL) result = register_ring(ring, setup.buffers, setup.buffer_bytes, false);
  if (result < 0) ::munmap(memory_, all_bytes_);
  check_made(result, "io_uring_register_buf_ring()", setup);
  io_uring_buf_ring_init(ring_);
  for (unsigned id = 0; id < count_; ++id) add(id);
  publish();
}

int ProvidedBuffers::register_ring(io_uring& ring, unsigned count, std::size_t bytes, bool filled) {
  count_ = count;
  bytes_ = bytes;
  auto registration = std::bit_cast<io_uring_buf_reg>(
      BufferRegistration{.ring_address = reinterpret_cast<std::uintptr_t>(ring_),
                         .entries = count,
                         .group = kGroup,
                         .flags = filled ? kFilledBuffers : std::uint16_t{0},
                         .reserved = {}});
  return retry_for_memory([&] { return io_uring_register_buf_ring(&ring, &registration, 0); });
}

ProvidedBuffers::~ProvidedBuffers() {
  ::munmap(memory_, all_bytes_);
}

Bytes ProvidedBuffers::chunk(const io_uring_cqe& cqe) const {
  const unsigned id = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
  return {buffer(id) + used_[id], static_cast<std::size_t>(cqe.res)};
}

void ProvidedBuffers::give_back(int result, unsigned flags) {
  const unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;
  if ((flags & kGoesOn) != 0)
    used_[id] += static_cast<std::size_t>(std::max(result, 0));
  else
    add(id);
}

void ProvidedBuffers::add(unsigned id) {
  used_[id] = 0;
  io_uring_buf_ring_add(ring_, buffer(id), static_cast<unsigned>(bytes_), static_cast<unsigned short>(id),
                        io_uring_buf_ring_mask(count_), unpublished_++);
}

void ProvidedBuffers::publish() {
  io_uring_buf_ring_advance(ring_, std::exchange(unpublished_, 0));
}

Uring::Uring(const UringSetup& setup) : setup_(setup) {
  set_up();
  try {
    buffers_.emplace(ring_, setup_);
  } catch (...) {
    io_uring_queue_exit(&ring_);
    throw;
  }
  // Otherwise each enter looks up the descriptor and counts a reference.
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
    result =
        retry_for_memory([&] { return io_uring_queue_init_params(setup_.submissions, &ring_, &params); });
    if (result == 0 && flags != sets.front())
      missing_.emplace_back(setup_.kernel_submits ? "single issuer (SINGLE_ISSUER)"
                                                  : "deferred task work (DEFER_TASKRUN)");
    if (result != -EINVAL) break;
  }
  check_made(result, setup_.kernel_submits ? "io_uring_setup(SQPOLL)" : "io_uring_setup()", setup_);
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
    const timespec time = to_timespec(most);
    __kernel_timespec timeout{.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec};
    io_uring_cqe* first = nullptr;
    result = io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr);
  } else if (setup_.kernel_submits && (flags & IORING_SQ_CQ_OVERFLOW) == 0) {
    result = io_uring_submit(&ring_);  // a system call only if the kernel's thread sleeps
  } else if (!setup_.watched || io_uring_sq_ready(&ring_) > 0 ||
             (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0) {
    result = io_uring_submit_and_get_events(&ring_);
  }
  // After a timeout, a signal or a lack of memory, operations not submitted now go with the next enter.
  if (result != -ETIME && !is_passing(result)) check_ring(result, "io_uring_enter()");
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

#endif
