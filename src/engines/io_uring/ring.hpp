// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "engines/io_uring/buffers.hpp"
#include "engines/io_uring/knobs.hpp"
#include "joust/time.hpp"

namespace joust {

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
  const UringSetup& setup() const { return setup_; }  // without features that the kernel lacks
  const std::vector<std::string>& missing() const { return missing_; }  // kernel features, as text
  ProvidedBuffers& buffers() { return *buffers_; }
  SendSlots* send_slots() { return send_slots_ ? &*send_slots_ : nullptr; }  // UringSend::registered

  // Puts a socket into the ring's table of files, at the place of its number. Operations with
  // IOSQE_FIXED_FILE then need no look-up, and name the socket by the same number. Returns false if the table
  // has no such place, or the setup no table. The table holds the socket open.
  bool enter_in_table(int socket);
  void remove_from_table(int socket);

 private:
  void set_up();
  void set_up_extras();
  int wait_at_most(Duration most);
  int wait_and_gather(__kernel_timespec& most);
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
  std::optional<SendSlots> send_slots_;
  int table_size_ = 0;
  bool registered_fd_ = false;  // an enter names the ring by its place in a table of the thread
  std::size_t in_flight_ = 0;
  bool overflowed_ = false;
  std::deque<io_uring_cqe> aside_;  // taken from the ring, not handled yet; oldest first
  std::vector<std::string> missing_;
};

// The io-uring engine with its own set-up, for tests. Options and limits take precedence over it.
void run_io_uring(const Hosting& hosting, Stop& stop, UringSetup setup);

}  // namespace joust
