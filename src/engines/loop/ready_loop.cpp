// SPDX-License-Identifier: MIT
#include "engines/loop/ready_loop.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {

template class LoopCore<ReadyPeer>;

namespace {

constexpr unsigned kSendsPerTurn = 16;
constexpr unsigned kEnd = POLLRDHUP | POLLHUP | POLLERR;

}  // namespace

ReadyLoop::ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index), buffer_(hosting.limits.read_bytes), pipe_(hosting.tally) {}

unsigned ReadyLoop::interest(const Peer& peer) const {
  if (!peer.connection) return POLLOUT;  // connecting
  return (peer.connection->wants_input() ? POLLIN : 0U) | (peer.writable ? 0U : POLLOUT);
}

void ReadyLoop::start_dials() {
  LoopCore::start_dials(SOCK_NONBLOCK);
}

void ReadyLoop::connect(Peer& peer) {
  const Endpoint& to = endpoint_of(peer);
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  if (result == 0 || errno != EINPROGRESS) return finish_dial(peer, result == 0 ? 0 : errno);
  watch(peer);
}

Duration ReadyLoop::next_wait() const {
  return unfinished_.empty() ? LoopCore::next_wait() : Duration::zero();
}

std::size_t ReadyLoop::woken(int result, const char* call) {
  const int error = result < 0 ? errno : 0;
  if (error == ENOMEM || error == EAGAIN) {
    hosting().tally.note("waits failed for want of kernel memory");
    pause_for_shortage();
  } else if (error != 0 && error != EINTR) {
    throw std::system_error(error, std::generic_category(), call);
  }
  read_clock();
  if (result > 0) found_work(static_cast<std::size_t>(result));
  return result > 0 ? static_cast<std::size_t>(result) : 0;
}

void ReadyLoop::ready(Peer& peer, unsigned events) {
  if (peer.leaving) return;
  if (!peer.connection) return guarded(peer, [&] { finish_dial(peer, connect_result(peer.socket.get())); });
  if ((events & kEnd) != 0) peer.end_is_near = true;
  if ((events & (POLLIN | kEnd)) != 0) peer.readable = true;
  if ((events & (POLLOUT | POLLHUP | POLLERR)) != 0) peer.writable = true;
  // While nothing is wanted from a peer, its reset is handled here, because neither recv nor send would be
  // called. Otherwise bytes that arrived before the reset are read first, and recv reports the reset.
  if ((events & POLLERR) != 0 && !peer.connection->wants_input())
    guarded(peer, [&] {
      if (const int error = connect_result(peer.socket.get()); error != 0)
        peer.connection->failed({Stage::receive, error, {}}, now());
    });
  attend(peer);
}

void ReadyLoop::ready_listener(const Listener& listener) {
  if (accepts()) accept_peers(listener, SOCK_NONBLOCK);
}

// Reads and writes until the socket has no more, the session wants no more, or the turn's quota is used up.
// The input of one turn is answered by one send, and a peer that sends without end does not delay the others.
void ReadyLoop::serve(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  const std::uint64_t quota = connection.bytes_received() + hosting().limits.read_bytes_per_turn;
  const auto may_receive = [&] { return peer.readable && connection.wants_input(); };
  if (!may_receive()) flush(peer);
  while (may_receive()) {
    if (connection.bytes_received() >= quota) {
      put_off(peer);
      break;
    }
    peer.readable = receive(peer);
    flush(peer);
  }
  if (!connection.ended()) watch(peer);
}

// False when the socket is drained. Bytes for a file may be spliced.
bool ReadyLoop::receive(Peer& peer) {
  const int socket = peer.socket.get();
  if (const std::size_t most = pipe_.wanted(*peer.connection); most > 0)
    return pipe_.receive_ready(socket, *peer.connection, most, now());
  return receive_ready(socket, *peer.connection, buffer_, peer.end_is_near, now());
}

// The number of sends is limited too, because a reader may be as fast as a file is read.
void ReadyLoop::flush(Peer& peer) {
  if (is_gathering()) return;
  unsigned sends = 0;
  while (peer.writable && peer.connection->has_output()) {
    if (++sends > kSendsPerTurn) {
      put_off(peer);
      break;
    }
    peer.writable = send_ready(peer.socket.get(), *peer.connection, now());
  }
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now());
}

void ReadyLoop::put_off(Peer& peer) {
  if (!peer.leaving) unfinished_.push(peer);
}

// The peers of earlier turns; those put off again come in the next turn.
void ReadyLoop::resume_unfinished() {
  Queue<Peer> unfinished;
  unfinished.take_all(unfinished_);
  while (Peer* peer = unfinished.pop()) {
    found_work();
    attend(*peer);
  }
}

void ReadyLoop::finish_turn() {
  resume_unfinished();
  fire_deadlines();
  pass_publications();
  if (stopping_) stop_by_and_by();
  sweep();
}

void ReadyLoop::stop_by_and_by() {
  if (draining()) return;
  end_accepting(SOCK_NONBLOCK);
  if (!may_drain()) return;
  admit_dealt();
  for (const auto& peer : peers()) peer->readable = true;  // to read what has arrived
  begin_drain();
}

}  // namespace joust
