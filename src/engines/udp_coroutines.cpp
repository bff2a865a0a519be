// SPDX-License-Identifier: MIT
// Needs Linux: the engines on UDP wait with epoll, which only Linux has
//
// udp-coroutines: one socket and one thread with an epoll loop, which resumes two C++20 coroutines.
//
//     epoll_pwait2 --> the receiver   co_await a datagram   --> session of its sender
//          ^               ^    |
//          |               |    v  (a jump, without the loop)
//          +---------- the sender     co_await room         <-- sessions with output
//
// Good at: being read. For any number of peers, a server is a loop that receives and a loop that sends. Bad
// at: what all engines on UDP are bad at (see udp-reuseport), and at more work than one thread can do. A
// coroutine for each peer, as for each connection in the engine coroutines, would have nothing to wait for,
// because all peers share the socket. When it resumes, an awaitable makes its one system call; when neither
// coroutine can go on, the thread goes back to the loop. As a client the engine has a socket and two
// coroutines for each connection. Frames live as long as their socket, so a datagram allocates nothing.
// udp/loop.hpp keeps the books. Left out on purpose: several threads, for which see udp-reuseport.
#include <cassert>
#include <cerrno>
#include <coroutine>
#include <optional>
#include <utility>
#include <vector>

#include "engines/loop/task.hpp"
#include "engines/udp/loop.hpp"
#include "engines/udp/peer.hpp"

namespace joust {
namespace {

// The tasks are the last members, so that they are destroyed first: their frames refer to the other members.
struct UdpCoroutines : UdpEnginePart {
  std::size_t receives_left = 0;  // receives left in this turn; 0 without input
  Waiter input, room;
  Task<> receiver, sender;
};

class UdpCoroutineLoop : public UdpLoop {
 public:
  UdpCoroutineLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : UdpLoop(hosting, stop, group, index), buffer_(kUdpBuffer) {}
  void run();

 private:
  class Arrival;
  class Departure;

  Task<> receive(UdpSocket& socket, UdpCoroutines& own);
  Task<> send(UdpSocket& socket, UdpCoroutines& own);
  UdpCoroutines& coroutines_of(UdpSocket& socket);
  void resume(UdpSocket& socket, bool has_input);

  std::vector<std::byte> buffer_;
  UdpBatch batch_{1};
};

// Waits until the socket has input; then makes one recvfrom. Output is sent first, so that each datagram is
// answered before the next one is read.
class UdpCoroutineLoop::Arrival : public Waiter::Awaitable {
 public:
  Arrival(UdpCoroutineLoop& loop, UdpSocket& socket, UdpCoroutines& own)
      : Awaitable(own.input), loop_(loop), socket_(socket), own_(own) {}
  bool await_ready() const { return own_.receives_left > 0 && !sender_may_go_on(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> receiver) {
    Awaitable::await_suspend(receiver);
    return sender_may_go_on() ? own_.room.take() : std::noop_coroutine();
  }
  // Returns the size of the datagram, and its sender; or a negative size, and errno.
  std::pair<ssize_t, Endpoint> await_resume() {
    --own_.receives_left;
    std::pair<ssize_t, Endpoint> result{};
    result.first = receive_datagram(socket_.fd, loop_.buffer_, result.second);
    return result;
  }

 private:
  bool sender_may_go_on() const { return own_.room.is_waited_at() && loop_.may_send(socket_); }

  UdpCoroutineLoop& loop_;
  UdpSocket& socket_;
  UdpCoroutines& own_;
};

// Waits until a session has output and the socket has room. The receiver goes on meanwhile, if it can.
class UdpCoroutineLoop::Departure : public Waiter::Awaitable {
 public:
  Departure(UdpCoroutineLoop& loop, UdpSocket& socket, UdpCoroutines& own)
      : Awaitable(own.room), loop_(loop), socket_(socket), own_(own) {}
  bool await_ready() const { return loop_.may_send(socket_); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> sender) {
    Awaitable::await_suspend(sender);
    return own_.receives_left > 0 ? own_.input.take() : std::noop_coroutine();
  }

 private:
  UdpCoroutineLoop& loop_;
  UdpSocket& socket_;
  UdpCoroutines& own_;
};

Task<> UdpCoroutineLoop::receive(UdpSocket& socket, UdpCoroutines& own) {
  while (true) {
    const auto [n, from] = co_await Arrival(*this, socket, own);
    if (n >= 0) {
      received(socket, Bytes(buffer_).first(static_cast<std::size_t>(n)), from);
    } else {
      own.receives_left = 0;
      receive_failed(socket, errno);
    }
  }
}

Task<> UdpCoroutineLoop::send(UdpSocket& socket, UdpCoroutines& own) {
  while (true) {
    co_await Departure(*this, socket, own);
    if (fill(socket, batch_) == 0) continue;
    const bool taken = send_datagram(socket.fd, batch_.datagram(0), batch_.to(0)) >= 0;
    sent(socket, batch_, taken ? 1 : 0, taken ? 0 : errno);
  }
}

// The loop, which resumes the coroutines.

void UdpCoroutineLoop::run() {
  while (!over()) {
    for (UdpSocket* const socket : wait()) resume(*socket, true);
    finish_turn();
    while (UdpSocket* const socket = next_talker()) resume(*socket, false);
    sweep();
  }
}

UdpCoroutines& UdpCoroutineLoop::coroutines_of(UdpSocket& socket) {
  if (!socket.part) {
    auto made = std::make_unique<UdpCoroutines>();
    made->receiver = receive(socket, *made);
    made->sender = send(socket, *made);
    socket.part = std::move(made);
    auto& own = static_cast<UdpCoroutines&>(*socket.part);
    own.sender.start();
    own.receiver.start();
  }
  return static_cast<UdpCoroutines&>(*socket.part);
}

// Resumes one of the two coroutines, which resumes the other.
void UdpCoroutineLoop::resume(UdpSocket& socket, bool has_input) {
  UdpCoroutines& own = coroutines_of(socket);
  own.receives_left = has_input ? quota(socket) : 0;
  if (may_send(socket))
    own.room.resume();
  else
    own.input.resume();
  own.receiver.surface();
  own.sender.surface();
}

void run(const Hosting& hosting, Stop& stop) {
  [[maybe_unused]] const auto frames = TaskFrames::alive();
  run_udp<UdpCoroutineLoop>(hosting, stop);
  assert(TaskFrames::alive() == frames);
}

}  // namespace

extern const Engine kUdpCoroutines{
    .name = "udp-coroutines",
    .summary = "UDP: C++20 coroutines on one thread, resumed by an epoll loop of joust's own",
    .delivery = kUdpDelivery,
    .transport = Transport::datagram,
    .does_chores = true,
    .threads = "one",
    .knobs = kUdpKnobs,
    .decided = decided_udp_knob,
    .run = run,
};

}  // namespace joust
