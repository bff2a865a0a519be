// SPDX-License-Identifier: MIT
//
// fibers: one thread with an epoll loop, which switches between fibers of Boost.Context. An engine that is
// not part of joust: docs/howto/bring-your-engine.md.
//
//     epoll_pwait2 --> for each ready socket:  its fiber   recv --> session --> send
//          ^                                      |   ^                          |
//          +---- deadlines <---- publications <---+   +--------------------------+
//                                         wait(): a switch of stacks
//
// Good at: being read. A connection is one function with an ordinary loop, and wait() may stand at any depth
// of calls. A switch takes some nanoseconds and no system call. Bad at: memory, because each connection has a
// stack; and long computations, which delay all.
//
// Only the loop resumes fibers, and only serve() does so. A fiber that is destroyed while it waits is unwound
// by an exception of Boost.Context, so its local objects are destroyed as at a return. An exception of the
// session must not leave a fiber: it is carried to serve(), where LoopCore counts it. Left out on purpose:
// several threads, and fibers for accept and connect.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "engines/epoll.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_exchange.hpp"

namespace joust {
namespace {

namespace context = boost::context;

constexpr unsigned kSendsPerTurn = 16;
constexpr std::size_t kStackBytes = 128 << 10;  // reserved; a page of it is used after a usual message

struct FiberPeer : ReadyPeer {
  using ReadyPeer::ReadyPeer;

  std::uint64_t read_until = 0;  // the count of received bytes at which the quota of this turn is used up
  unsigned sends_left = 0;       // sends left in the quota of this turn
  std::exception_ptr error;      // with which the fiber has ended
  context::fiber loop;           // the loop's place, while the fiber runs
  context::fiber fiber;          // the last member: destroyed first, because its stack refers to the others
};

class FiberLoop : public LoopCore<FiberPeer> {
 public:
  FiberLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  using Peer = FiberPeer;

  void converse(Peer& peer);
  static void wait(Peer& peer) { peer.loop = std::move(peer.loop).resume(); }

  void begin(Peer& peer);
  void dispatch(const epoll_event& event);
  void ready(Peer& peer, unsigned events);
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  void watch(Peer& peer);
  bool let_go(Peer& peer) override { return epoll_.let_go(peer); }
  void drain();

  bool stopping_ = false;
  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
  ReadyExchange exchange_;
  EpollSet epoll_;
};

// Holds a connection from its beginning to its end. This is the fiber. Output is sent before more is read.
void FiberLoop::converse(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  while (!connection.ended()) {
    const bool may_send = peer.sends_left > 0 && !is_batching();
    if (may_send && peer.writable && connection.has_output()) {
      --peer.sends_left;
      peer.writable = send_ready(peer.socket.get(), connection, now());
    } else if (may_send && connection.wants_shutdown()) {
      end_stream(peer.socket.get(), connection, now());
    } else if (peer.readable && connection.wants_input() && connection.bytes_received() < peer.read_until) {
      peer.readable = exchange_.receive_once(peer, now());
    } else {
      wait(peer);
    }
  }
}

// Makes the fiber of a peer. Its first resume() begins it.
void FiberLoop::begin(Peer& peer) {
  const auto body = [this, &peer](context::fiber&& loop) {
    peer.loop = std::move(loop);
    try {
      converse(peer);
    } catch (const context::detail::forced_unwind&) {
      throw;  // the fiber is being destroyed
    } catch (...) {
      peer.error = std::current_exception();
    }
    return std::move(peer.loop);
  };
  peer.fiber = context::fiber(std::allocator_arg, context::protected_fixedsize_stack(kStackBytes), body);
}

FiberLoop::FiberLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index), exchange_(hosting) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  epoll_.add(listeners());
}

void FiberLoop::run() {
  while (!over()) {
    start_dials(SOCK_NONBLOCK);
    epoll_.watch(listeners(), !listeners().empty() && !accepting_paused());
    const Duration most = unfinished_.empty() ? next_wait() : Duration::zero();
    for (const epoll_event& event : epoll_.first(woken(epoll_.wait(most, hosting().tally), "epoll_pwait2()")))
      dispatch(event);
    resume(unfinished_);
    fire_deadlines();
    pass_publications();
    if (stopping_ && !draining()) drain();
    sweep();
  }
}

void FiberLoop::dispatch(const epoll_event& event) {
  void* const tag = event.data.ptr;
  if (tag == &stop()) {
    stopping_ = true;
    epoll_.remove(listeners());
    return epoll_.control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);  // it stays readable
  }
  if (tag == &inbox()) return admit_dealt();
  for (const Listener* listener : listeners())
    if (tag == listener) return accept_peers(*listener, SOCK_NONBLOCK);
  ready(*static_cast<Peer*>(tag), event.events);
}

void FiberLoop::ready(Peer& peer, unsigned events) {
  if (peer.leaving) return;
  if (!peer.connection) return guarded(peer, [&] { finish_dial(peer, connect_result(peer.socket.get())); });
  guarded(peer, [&] { ReadyExchange::note_events(peer, events, now()); });
  attend(peer);
}

void FiberLoop::connect(Peer& peer) {
  const Endpoint& to = endpoint_of(peer);
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  if (result == 0 || errno != EINPROGRESS) return finish_dial(peer, result == 0 ? 0 : errno);
  watch(peer);
}

// Resumes the fiber of the peer, which runs until it can neither read nor send, or has used up its quota.
void FiberLoop::serve(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  peer.read_until = connection.bytes_received() + hosting().limits.read_bytes_per_turn;
  peer.sends_left = kSendsPerTurn;
  if (!peer.fiber) begin(peer);
  peer.fiber = std::move(peer.fiber).resume();
  if (peer.error) std::rethrow_exception(std::exchange(peer.error, nullptr));
  if (peer.has_hung_up && !connection.ended() && !connection.wants_input())
    ReadyExchange::look_for_reset(peer, now());
  if (connection.ended()) return;
  if (peer.sends_left == 0 || (peer.readable && connection.wants_input())) unfinished_.push(peer);
  watch(peer);
}

// Edge-triggered, input is always watched; output only while the socket is full.
void FiberLoop::watch(Peer& peer) {
  const unsigned input = peer.connection ? EPOLLIN | EPOLLRDHUP : 0U;
  const unsigned output = peer.connection && peer.writable ? 0U : unsigned{EPOLLOUT};
  epoll_.watch(peer.socket.get(), peer, input | output | EPOLLET);
}

void FiberLoop::drain() {
  end_accepting(SOCK_NONBLOCK);
  for (const auto& peer : peers()) peer->readable = true;  // to read input that has arrived
  begin_drain();
}

}  // namespace

extern const Engine kFibers{
    .name = "fibers",
    .summary = "fibers of Boost.Context on one thread, resumed by an epoll loop",
    .threads = "one",
    .run = run_loops<FiberLoop>,
};

}  // namespace joust
