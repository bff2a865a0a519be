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
#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"

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

// The peers and their fibers. Polled adds the wait, here with epoll.
class FiberCore : public LoopCore<FiberPeer> {
 public:
  using Peer = FiberPeer;
  FiberCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : LoopCore(hosting, stop, group, index), exchange_(hosting) {}

 protected:
  virtual void watch(Peer& peer, unsigned events) = 0;
  static void take_reports(Reports /*reports*/) {}
  void start_dials() { LoopCore::start_dials(SOCK_NONBLOCK); }
  Duration next_wait() const { return unfinished_.empty() ? LoopCore::next_wait() : Duration::zero(); }
  void ready_peer(Peer& peer, unsigned events, int error);
  void ready_listener(const Listener& listener) { accept_peers(listener, SOCK_NONBLOCK); }
  void finish_turn();

 private:
  void converse(Peer& peer);
  static void wait(Peer& peer) { peer.loop = std::move(peer.loop).resume(); }

  void begin(Peer& peer);
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  void arm(Peer& peer);
  void drain();

  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
  ReadyExchange exchange_;
};

// Holds a connection from its beginning to its end. This is the fiber. Output is sent before more is read.
void FiberCore::converse(Peer& peer) {
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
void FiberCore::begin(Peer& peer) {
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

void FiberCore::ready_peer(Peer& peer, unsigned events, int /*error*/) {
  if (peer.leaving) return;
  if (!peer.connection) return guarded(peer, [&] { finish_dial(peer, connect_result(peer.socket.get())); });
  guarded(peer, [&] { ReadyExchange::note_events(peer, events, now()); });
  attend(peer);
}

void FiberCore::connect(Peer& peer) {
  const int error = exchange_.connect(peer, endpoint_of(peer));
  if (error != EINPROGRESS) return finish_dial(peer, error);
  arm(peer);
}

// Resumes the fiber of the peer, which runs until it can neither read nor send, or has used up its quota.
void FiberCore::serve(Peer& peer) {
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
  arm(peer);
}

// Edge-triggered, input is always watched; output only while the socket is full.
void FiberCore::arm(Peer& peer) {
  const unsigned events = (peer.connection ? POLLIN : 0U) | (peer.connection && peer.writable ? 0U : POLLOUT);
  if (events != peer.armed) watch(peer, events);
}

void FiberCore::finish_turn() {
  resume(unfinished_);
  fire_deadlines();
  pass_publications();
  if (is_stopping() && !draining()) drain();
  sweep();
}

void FiberCore::drain() {
  end_accepting(SOCK_NONBLOCK);
  for (const auto& peer : peers()) peer->readable = true;  // to read input that has arrived
  begin_drain();
}

}  // namespace

extern const Engine kFibers{
    .name = "fibers",
    .summary = "fibers of Boost.Context on one thread, resumed by an epoll loop",
    .threads = "one",
    .run = run_loops<Polled<FiberCore, Epoll>>,
};

}  // namespace joust
