// SPDX-License-Identifier: MIT
// Needs Linux: epoll is the interface of Linux; kqueue is its counterpart here
//
// coroutines: one thread with an epoll loop, which resumes C++20 coroutines. No library but the compiler's.
//
//     epoll_pwait2 --> for each ready socket:  the receiver   co_await read   --> session
//          ^                                      ^    |
//          |                                      |    v  (a jump, without the loop)
//          +---- deadlines: the keeper,        the sender     co_await write  <-- session
//                co_await alarm
//
// Good at: being read. A connection is a receive loop and a send loop, each in one piece. A coroutine that
// waits takes up its frame and no stack, and is resumed by a jump. Bad at: long computations, which delay
// all; and lifetimes, because a frame refers to objects that it does not own.
//
// An awaitable asks whether its coroutine may go on at once (await_ready). If not, it leaves the handle in a
// Waiter and passes the thread to the other coroutine of the connection if that has work, otherwise back to
// the loop (await_suspend). The socket stays registered, edge-triggered, so this costs no system call. When
// the coroutine is resumed, the awaitable makes its one system call (await_resume).
//
// Frames live as long as their connection: a message allocates nothing. A connection is ended by destroying
// its frames, which the loop does only while they are suspended, so no coroutine has code for that. Left out
// on purpose: several threads, for which handles would need a lock (see asio-coroutines); level-triggered
// events.
#include <cerrno>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <stdexcept>

#include "engines/epoll.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"
#include "engines/loop/task.hpp"
#include "net/listener.hpp"

namespace joust {
namespace {

// A connection, its coroutines, and the places where these wait. The tasks are the last members, so that they
// are destroyed first: their frames refer to the other members.
struct CoroutinePeer : ReadyPeer {
  using ReadyPeer::ReadyPeer;

  bool may_read() const {
    return readable && connection->wants_input() && connection->bytes_received() < read_until;
  }
  // The end of the stream needs no room in the socket.
  bool may_write() const {
    return sends_left > 0 && ((writable && connection->has_output()) || connection->wants_shutdown());
  }

  std::uint64_t read_until = 0;  // the count of received bytes at which the quota of this turn is used up
  unsigned sends_left = 0;       // sends left in the quota of this turn
  Waiter connected, input, output, alarm;
  Task<> dialler, receiver, sender, keeper;
};

// A listener, and the coroutine that accepts from it.
struct Acceptor {
  explicit Acceptor(const Listener& from) : listener(from) {}

  const Listener& listener;
  Waiter newcomer;
  Task<> task;
};

constexpr unsigned kSendsPerTurn = 16;

// The peers and their coroutines. Polled adds the loop, which resumes them.
class CoroutineCore : public LoopCore<CoroutinePeer> {
 public:
  using Peer = CoroutinePeer;
  CoroutineCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);

 protected:
  virtual void watch(Peer& peer, unsigned events) = 0;
  static void take_reports(Reports /*reports*/) {}
  void start_dials() { LoopCore::start_dials(SOCK_NONBLOCK); }
  Duration next_wait() const { return unfinished_.empty() ? LoopCore::next_wait() : Duration::zero(); }
  void ready_peer(Peer& peer, unsigned events, int error);
  void ready_listener(const Listener& listener);
  void finish_turn();

 private:
  class Read;
  class Write;

  // The coroutines.
  Task<> receive(Peer& peer);
  Task<> send(Peer& peer);
  Task<> keep_time(Peer& peer);
  Task<> dial(Peer& peer);
  Task<int> result_of_connect(Peer& peer);
  Task<> accept(Acceptor& acceptor);

  // Their resumers.
  void connect(Peer& peer) override;
  void tell(Peer& peer, News news) override;
  void serve(Peer& peer) override;
  void begin(Peer& peer);
  bool may_write(const Peer& peer) const { return !is_batching() && peer.may_write(); }
  void arm(Peer& peer);

  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
  ReadyExchange exchange_;
  std::deque<Acceptor> acceptors_;
};

// Waits until the session wants input and the socket has some; then makes one recv (or a splice, for a file).
// Output is sent first, so that each read is answered before the next one.
class CoroutineCore::Read : public Waiter::Awaitable {
 public:
  Read(CoroutineCore& loop, Peer& peer) : Awaitable(peer.input), loop_(loop), peer_(peer) {}
  bool await_ready() const { return peer_.may_read() && !sender_may_go_on(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> receiver) {
    Awaitable::await_suspend(receiver);
    return sender_may_go_on() ? peer_.output.take() : std::noop_coroutine();
  }
  void await_resume() { peer_.readable = loop_.exchange_.receive_once(peer_, loop_.now()); }

 private:
  bool sender_may_go_on() const { return peer_.output.is_waited_at() && loop_.may_write(peer_); }

  CoroutineCore& loop_;
  Peer& peer_;
};

// Waits until the session has output and the socket has room; then makes one send (or sendfile).
class CoroutineCore::Write : public Waiter::Awaitable {
 public:
  Write(CoroutineCore& loop, Peer& peer) : Awaitable(peer.output), loop_(loop), peer_(peer) {}
  bool await_ready() const { return loop_.may_write(peer_); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> sender) {
    Awaitable::await_suspend(sender);
    return peer_.may_read() ? peer_.input.take() : std::noop_coroutine();
  }
  void await_resume() {
    --peer_.sends_left;
    peer_.writable = send_ready(peer_.socket.get(), *peer_.connection, loop_.now());
  }

 private:
  CoroutineCore& loop_;
  Peer& peer_;
};

Task<> CoroutineCore::receive(Peer& peer) {
  while (peer.live()) co_await Read(*this, peer);
}

// Sends until the session has finished; then the peer reads our end of stream, and the receiver goes on until
// it reads the peer's.
Task<> CoroutineCore::send(Peer& peer) {
  while (!peer.connection->wants_shutdown()) co_await Write(*this, peer);
  end_stream(peer.socket.get(), *peer.connection, now());
}

// Sleeps until the earliest deadline of the connection. LoopCore keeps all deadlines in one queue.
Task<> CoroutineCore::keep_time(Peer& peer) {
  while (peer.live()) {
    co_await peer.alarm;
    peer.connection->on_time(now());
  }
}

Task<> CoroutineCore::dial(Peer& peer) {
  const int error = co_await result_of_connect(peer);
  finish_dial(peer, error);
}

Task<int> CoroutineCore::result_of_connect(Peer& peer) {
  const int error = exchange_.connect(peer, endpoint_of(peer));
  if (error != EINPROGRESS) co_return error;
  arm(peer);
  co_await peer.connected;
  co_return connect_result(peer.socket.get());
}

// Accepts a limited number of peers at a time, so that connected peers are served in between.
Task<> CoroutineCore::accept(Acceptor& acceptor) {
  while (true) {
    co_await acceptor.newcomer;
    accept_peers(acceptor.listener, SOCK_NONBLOCK);
  }
}

CoroutineCore::CoroutineCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index), exchange_(hosting) {
  for (const Listener* listener : listeners()) {
    Acceptor& acceptor = acceptors_.emplace_back(*listener);
    acceptor.task = accept(acceptor);
    acceptor.task.start();
  }
}

void CoroutineCore::ready_listener(const Listener& listener) {
  for (Acceptor& acceptor : acceptors_) {
    if (&acceptor.listener != &listener) continue;
    acceptor.newcomer.resume();
    acceptor.task.surface();
  }
}

void CoroutineCore::ready_peer(Peer& peer, unsigned events, int /*error*/) {
  if (peer.leaving) return;
  if (!peer.connection)
    return guarded(peer, [&] {
      peer.connected.resume();
      peer.dialler.surface();
    });
  guarded(peer, [&] { ReadyExchange::note_events(peer, events, now()); });
  attend(peer);
}

void CoroutineCore::connect(Peer& peer) {
  peer.dialler = dial(peer);
  peer.dialler.start();
  peer.dialler.surface();
}

void CoroutineCore::tell(Peer& peer, News news) {
  if (news != News::deadline) return LoopCore::tell(peer, news);
  stamp();
  peer.alarm.resume();
  peer.keeper.surface();
  attend(peer);
}

// Resumes the coroutine of the peer that may go on; that coroutine resumes the other one.
void CoroutineCore::serve(Peer& peer) {
  peer.read_until = peer.connection->bytes_received() + hosting().limits.read_bytes_per_turn;
  peer.sends_left = kSendsPerTurn;
  if (!peer.receiver.frame()) begin(peer);
  // Input first: the same send then answers it.
  if (peer.may_read())
    peer.input.resume();
  else if (may_write(peer))
    peer.output.resume();
  peer.receiver.surface();
  peer.sender.surface();
  StreamConnection& connection = *peer.connection;
  if (peer.has_hung_up && !connection.ended() && !connection.wants_input())
    ReadyExchange::look_for_reset(peer, now());
  if (connection.ended()) return;
  if (peer.sends_left == 0 || (peer.readable && connection.wants_input())) unfinished_.push(peer);
  arm(peer);
}

void CoroutineCore::begin(Peer& peer) {
  peer.keeper = keep_time(peer);
  peer.sender = send(peer);
  peer.receiver = receive(peer);
  peer.keeper.start();
  peer.sender.start();
  peer.receiver.start();
}

// Edge-triggered, input is always watched; output only while the socket is full.
void CoroutineCore::arm(Peer& peer) {
  const unsigned events = (peer.connection ? POLLIN : 0U) | (peer.connection && peer.writable ? 0U : POLLOUT);
  if (events != peer.armed) watch(peer, events);
}

void CoroutineCore::finish_turn() {
  resume(unfinished_);
  fire_deadlines();
  pass_publications();
  if (is_stopping() && !draining()) {
    end_accepting(SOCK_NONBLOCK);
    acceptors_.clear();
    for (const auto& peer : peers()) peer->readable = true;  // to read input that has arrived
    begin_drain();
  }
  sweep();
}

void run(const Hosting& hosting, Stop& stop) {
  const auto frames = TaskFrames::alive();
  run_loops<Polled<CoroutineCore, Epoll>>(hosting, stop);
  if (TaskFrames::alive() != frames) throw std::logic_error("coroutines: frames are left");
}

}  // namespace

extern const Engine kCoroutines{
    .name = "coroutines",
    .summary = "C++20 coroutines on one thread, resumed by an epoll loop of joust's own",
    .does_chores = true,
    .threads = "one",
    .run = run,
};

}  // namespace joust
