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

// The size and features of one loop's ring. Tests make it small, or leave out features of newer kernels.
struct UringSetup {
  unsigned submissions = 1024;          // operations between two enters; more cost an extra enter
  unsigned completions = 4096;          // beyond it the kernel keeps them in a list, and ends multishots
  unsigned buffers = 256;               // for receiving; a power of two
  std::size_t buffer_bytes = 16 << 10;  // the most bytes of one completion
  unsigned filled_buffers = 16;         // instead, if receives share buffers (Linux 6.12); 0: never
  std::size_t filled_bytes = 64 << 10;
  bool deferred_work = true;      // SINGLE_ISSUER and DEFER_TASKRUN, Linux 6.1
  bool multishot_receive = true;  // Linux 6.0
  bool kernel_submits = false;    // SQPOLL
  bool watched = false;           // for a loop that spins: it enters only when shared memory demands it
};

#ifdef JOUST_HAVE_LIBURING

// Provided buffers: the kernel takes one when bytes arrive, so idle connections hold none. With incremental
// consumption (Linux 6.12) a receive continues in the buffer of the one before: small messages are stored
// close together, and buffers can be large enough for large messages. The fill level of a buffer follows only
// from the order of completions, so this mode is off where that order is not certain: without multishot
// receives, and with SQPOLL.
class ProvidedBuffers {
 public:
  static constexpr unsigned short kGroup = 0;

  // Throws std::system_error if the kernel refuses.
  ProvidedBuffers(io_uring& ring, const UringSetup& setup);
  ~ProvidedBuffers();
  ProvidedBuffers(const ProvidedBuffers&) = delete;
  ProvidedBuffers& operator=(const ProvidedBuffers&) = delete;

  // Returns the bytes of a receive that completed with IORING_CQE_F_BUFFER. They are valid until given back.
  Bytes chunk(const io_uring_cqe& cqe) const;
  // Gives a buffer back. Call it in the order of completions. Takes effect with publish().
  void give_back(const io_uring_cqe& cqe) { give_back(cqe.res, cqe.flags); }
  void give_back(int result, unsigned flags);
  void publish();

 private:
  std::byte* buffer(unsigned id) const { return memory_ + ring_bytes_ + id * bytes_; }
  int register_ring(io_uring& ring, unsigned count, std::size_t bytes, bool filled);
  void add(unsigned id);

  unsigned count_ = 0;
  std::size_t bytes_ = 0;  // the size of one buffer
  std::size_t ring_bytes_;
  std::size_t all_bytes_;
  std::vector<std::size_t> used_;  // for each buffer, the bytes given back so far
  std::byte* memory_;
  io_uring_buf_ring* ring_;
  int unpublished_ = 0;
};

// One io_uring with its provided buffers, made and used by one thread. It counts the operations in flight,
// because the kernel may access the memory of an operation until its last completion.
class Uring {
 public:
  // Throws std::system_error if the kernel refuses.
  explicit Uring(const UringSetup& setup);
  ~Uring();
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  // Returns an entry for one operation, to be filled in by io_uring_prep_*. Its completions carry `tag`; the
  // last one lacks IORING_CQE_F_MORE. If the kernel takes no more operations until completions are taken, the
  // completions are set aside for take_completions().
  io_uring_sqe* prepare(std::uint64_t tag);

  // Starts a poll that completes each time `fd` becomes readable, until a completion lacks IORING_CQE_F_MORE.
  void watch(int fd, std::uint64_t tag) { io_uring_prep_poll_multishot(prepare(tag), fd, POLLIN); }

  // io_uring_enter: submits the prepared operations and waits for a completion, at most for `most`. With
  // `watched` and a wait of zero, the call is skipped if the kernel has nothing to do.
  void submit_and_wait(Duration most);

  // Handles the completions that exist now, oldest first. Later ones wait for the next call.
  template <typename Handle>
  void take_completions(Handle&& handle) {
    for (std::size_t ready = completions(); ready > 0; --ready) {
      const io_uring_cqe cqe = next_completion();
      if ((cqe.flags & IORING_CQE_F_MORE) == 0) --in_flight_;
      handle(cqe);
    }
  }

  // Returns the completion that take_completions() handles `ahead` after the present one; null if it has not
  // come yet.
  const io_uring_cqe* upcoming(unsigned ahead) const {
    if (!aside_.empty() || io_uring_cq_ready(&ring_) < ahead) return nullptr;
    return &ring_.cq.cqes[(*ring_.cq.khead + ahead - 1) & ring_.cq.ring_mask];
  }

  // Cancels the operations in flight and takes completions until none is left, so that the kernel uses no
  // memory of ours any more. Gives up if the kernel refuses even that.
  void abandon(const std::function<void(const io_uring_cqe&)>& handle) noexcept;

  std::size_t completions() const { return aside_.size() + io_uring_cq_ready(&ring_); }

  std::size_t in_flight() const { return in_flight_; }
  bool has_overflowed() const { return overflowed_; }
  bool multishot_receive() const { return setup_.multishot_receive; }
  bool kernel_submits() const { return setup_.kernel_submits; }
  const std::vector<std::string>& missing() const { return missing_; }  // kernel features, as text
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
  std::deque<io_uring_cqe> aside_;  // taken from the ring, not handled yet; oldest first
  std::vector<std::string> missing_;
};

// The io-uring engine with its own set-up, for tests. Options and limits take precedence over it.
void run_io_uring(const Hosting& hosting, Stop& stop, UringSetup setup);

#endif

}  // namespace joust
