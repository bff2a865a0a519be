// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "engines/engine.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"

#ifdef JOUST_HAVE_LIBURING
#include <liburing.h>
#include <poll.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>
#endif

namespace joust {

// How large one loop's ring is, and what it may use. Tests make it small, or leave out what an older kernel
// lacks.
struct UringSetup {
  unsigned submissions = 1024;          // operations prepared between two enters; more cost an extra enter
  unsigned completions = 4096;          // beyond it the kernel keeps them in a list, and ends multishots
  unsigned buffers = 256;               // provided for receiving; a power of two
  std::size_t buffer_bytes = 16 << 10;  // the most one completion brings
  unsigned filled_buffers = 16;         // instead, where they are filled up, Linux 6.12; 0: nowhere
  std::size_t filled_bytes = 64 << 10;
  bool deferred_work = true;      // SINGLE_ISSUER and DEFER_TASKRUN, Linux 6.1
  bool multishot_receive = true;  // Linux 6.0
  bool kernel_submits = false;    // SQPOLL
  bool watched = false;           // for a loop that spins: the kernel says in shared memory when to enter
};

#ifdef JOUST_HAVE_LIBURING

// Memory the kernel picks from when something has arrived, so that ten thousand idle connections hold none.
// Where it can (Linux 6.12) a receive goes on in the buffer in which the one before has ended: small messages
// then lie close together, and buffers can be large enough for large ones. How far a buffer is filled shows
// only in the order of the completions. So it is done without where that order is not certain: with receives
// that complete in batches, and with a kernel thread that submits while we take completions.
class ProvidedBuffers {
 public:
  static constexpr unsigned short kGroup = 0;

  // Throws std::system_error where the kernel refuses.
  ProvidedBuffers(io_uring& ring, const UringSetup& setup);
  ~ProvidedBuffers();
  ProvidedBuffers(const ProvidedBuffers&) = delete;
  ProvidedBuffers& operator=(const ProvidedBuffers&) = delete;

  Bytes chunk(const io_uring_cqe& cqe) const;  // what a receive has brought, until given back
  void give_back(const io_uring_cqe& cqe);     // in order; the kernel sees it with the next publish()
  void publish();

 private:
  std::byte* buffer(unsigned id) const { return memory_ + ring_bytes_ + id * bytes_; }
  int register_ring(io_uring& ring, unsigned count, std::size_t bytes, bool filled);
  void add(unsigned id);

  unsigned count_ = 0;
  std::size_t bytes_ = 0;  // of one
  std::size_t ring_bytes_;
  std::size_t all_bytes_;
  std::vector<std::size_t> used_;  // of each, bytes that have been given back
  std::byte* memory_;
  io_uring_buf_ring* ring_;
  int unpublished_ = 0;
};

// One io_uring with its provided buffers, made and used by one thread. It counts what is in flight, because
// the kernel may touch the memory of an operation until its last completion has come.
class Uring {
 public:
  // Throws std::system_error where the kernel refuses.
  explicit Uring(const UringSetup& setup);
  ~Uring();
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  // An entry for one operation, to be filled in with io_uring_prep_*. Its completions carry `tag`; the last
  // of them comes without IORING_CQE_F_MORE. Where the kernel takes no more until completions have been
  // taken, they are set aside for take_completions().
  io_uring_sqe* prepare(std::uint64_t tag);

  // A completion each time `fd` becomes readable, until one comes without IORING_CQE_F_MORE.
  void watch(int fd, std::uint64_t tag) { io_uring_prep_poll_multishot(prepare(tag), fd, POLLIN); }

  // io_uring_enter: submits what was prepared and waits for a completion, for `most` at the longest. A
  // watched ring does not enter for zero time where the kernel has nothing to do.
  void submit_and_wait(Duration most);

  // The completions that have come, oldest first. Those that come meanwhile are left for the next time.
  template <typename Handle>
  void take_completions(Handle&& handle) {
    for (std::size_t ready = completions(); ready > 0; --ready) {
      const io_uring_cqe cqe = next_completion();
      if ((cqe.flags & IORING_CQE_F_MORE) == 0) --in_flight_;
      handle(cqe);
    }
  }

  // Cancels what is in flight and takes completions until all has come to its end: the kernel refers to
  // nothing of ours any more then. Gives up where the kernel refuses even that.
  void abandon(const std::function<void(const io_uring_cqe&)>& handle) noexcept;

  std::size_t completions() const { return aside_.size() + io_uring_cq_ready(&ring_); }

  std::size_t in_flight() const { return in_flight_; }
  bool has_overflowed() const { return overflowed_; }
  bool multishot_receive() const { return setup_.multishot_receive; }
  bool kernel_submits() const { return setup_.kernel_submits; }
  const std::vector<std::string>& missing() const { return missing_; }  // what this kernel lacks, for people
  ProvidedBuffers& buffers() { return *buffers_; }

 private:
  void set_up();
  void make_room(bool last_try);
  void set_completions_aside();
  io_uring_cqe next_completion() {
    if (!aside_.empty()) {
      const io_uring_cqe cqe = aside_.front();
      aside_.pop_front();
      return cqe;
    }
    io_uring_cqe* next = nullptr;
    io_uring_peek_cqe(&ring_, &next);
    const io_uring_cqe cqe = *next;
    io_uring_cqe_seen(&ring_, next);
    return cqe;
  }

  UringSetup setup_;
  io_uring ring_{};
  std::optional<ProvidedBuffers> buffers_;
  std::size_t in_flight_ = 0;
  bool overflowed_ = false;
  std::deque<io_uring_cqe> aside_;  // taken off the ring, not handled yet; oldest first
  std::vector<std::string> missing_;
};

// The io-uring engine with a set-up of one's own, for tests. What the options and limits say goes before it.
void run_io_uring(const Hosting& hosting, Stop& stop, UringSetup setup);

#endif

}  // namespace joust
