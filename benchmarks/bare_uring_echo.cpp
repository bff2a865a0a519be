// SPDX-License-Identifier: MIT
//
// An io_uring echo server with nothing around it: one multishot accept, a multishot receive for each peer
// into provided buffers, one send for what each receive has brought, one enter a turn. No sessions, no
// limits, no deadlines, no way to stop; a send that stops short loses bytes. It is what the io-uring engine
// is measured against. Nothing to build upon.
//
//     bare_uring_echo PORT CPU
#include <liburing.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

#include "bare.hpp"

namespace {

constexpr unsigned kBuffers = 8192;
constexpr std::size_t kBytes = 2048;
constexpr int kGroup = 0;

// What a completion belongs to, in the 64 bits it carries.
enum class Op : unsigned { accept, receive, send };
std::uint64_t tag(Op op, int socket, unsigned buffer = 0) {
  return static_cast<std::uint64_t>(op) << 60 | std::uint64_t{buffer} << 32 | static_cast<unsigned>(socket);
}

class Server {
 public:
  explicit Server(int listener) : listener_(listener), memory_(kBuffers * kBytes) {
    io_uring_params params{};
    params.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    params.cq_entries = 16'384;
    if (io_uring_queue_init_params(4096, &ring_, &params) < 0) bare::fail("io_uring_queue_init_params");
    io_uring_buf_reg registration{};
    if (::posix_memalign(&buffers_memory_, 4096, kBuffers * sizeof(io_uring_buf)) != 0) bare::fail("memory");
    buffers_ = static_cast<io_uring_buf_ring*>(buffers_memory_);
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(buffers_);
    registration.ring_entries = kBuffers;
    registration.bgid = kGroup;
    if (io_uring_register_buf_ring(&ring_, &registration, 0) < 0) bare::fail("io_uring_register_buf_ring");
    io_uring_buf_ring_init(buffers_);
    for (unsigned i = 0; i < kBuffers; ++i) give_back(i);
    accept();
  }

  [[noreturn]] void run() {
    for (;;) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head = 0, seen = 0;
      io_uring_cqe* cqe = nullptr;
      io_uring_for_each_cqe(&ring_, head, cqe) {
        handle(*cqe);
        ++seen;
      }
      io_uring_cq_advance(&ring_, seen);
    }
  }

 private:
  char* buffer(unsigned id) { return memory_.data() + id * kBytes; }

  void give_back(unsigned id) {
    io_uring_buf_ring_add(buffers_, buffer(id), kBytes, static_cast<unsigned short>(id),
                          io_uring_buf_ring_mask(kBuffers), 0);
    io_uring_buf_ring_advance(buffers_, 1);
  }

  io_uring_sqe* prepare() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    for (; entry == nullptr; entry = io_uring_get_sqe(&ring_)) io_uring_submit(&ring_);
    return entry;
  }

  void accept() {
    io_uring_sqe* const entry = prepare();
    io_uring_prep_multishot_accept(entry, listener_, nullptr, nullptr, 0);
    io_uring_sqe_set_data64(entry, tag(Op::accept, 0));
  }

  void receive(int peer) {
    io_uring_sqe* const entry = prepare();
    io_uring_prep_recv_multishot(entry, peer, nullptr, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = kGroup;
    io_uring_sqe_set_data64(entry, tag(Op::receive, peer));
  }

  void handle(const io_uring_cqe& cqe) {
    const auto op = static_cast<Op>(cqe.user_data >> 60);
    const int peer = static_cast<int>(cqe.user_data & 0xffff'ffff);
    const bool goes_on = (cqe.flags & IORING_CQE_F_MORE) != 0;
    if (op == Op::accept && cqe.res >= 0) receive(cqe.res);
    if (op == Op::accept && !goes_on) accept();
    if (op == Op::send) give_back(static_cast<unsigned>(cqe.user_data >> 32) & 0xffff);
    if (op != Op::receive) return;
    if (cqe.res > 0) {
      const unsigned id = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
      io_uring_sqe* const entry = prepare();
      io_uring_prep_send(entry, peer, buffer(id), static_cast<std::size_t>(cqe.res), MSG_NOSIGNAL);
      io_uring_sqe_set_data64(entry, tag(Op::send, peer, id));
    }
    if (cqe.res <= 0 && cqe.res != -ENOBUFS)
      ::close(peer);
    else if (!goes_on)
      receive(peer);
  }

  const int listener_;
  std::vector<char> memory_;
  void* buffers_memory_ = nullptr;
  io_uring_buf_ring* buffers_ = nullptr;
  io_uring ring_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: bare_uring_echo PORT CPU\n", stderr), 2;
  bare::pin_to(argv[2]);
  Server(bare::listening_socket(argv[1], 0)).run();
}
