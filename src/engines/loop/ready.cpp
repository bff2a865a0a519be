// SPDX-License-Identifier: MIT
#include "engines/loop/ready.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engines/loop/loop_core_impl.hpp"

namespace joust {
namespace {

// The number of sends is limited too, because a reader may be as fast as a file is read.
constexpr unsigned kSendsOfPeer = 16;  // of a peer in one turn
constexpr unsigned kEnd = kReadHangUp | POLLHUP | POLLERR;

// How often peers that have sent unwanted bytes are checked for a reset that is not reported.
constexpr Duration kLookEvery = std::chrono::milliseconds(100);

}  // namespace

int ReadyExchange::connect(ReadyPeer& peer, const Endpoint& to) const {
  return ::connect(peer.socket.get(), to.raw(), to.size) == 0 ? 0 : errno;
}

void ReadyExchange::note_events(ReadyPeer& peer, unsigned events, Time now) {
  if ((events & kEnd) != 0) peer.end_is_near = true;
  if ((events & (POLLHUP | POLLERR)) != 0) peer.has_hung_up = true;
  if ((events & (POLLIN | kEnd)) != 0) peer.readable = true;
  if ((events & (POLLOUT | POLLHUP | POLLERR)) != 0) peer.writable = true;
  // While input is wanted, bytes that arrived before a reset are read first, and recv reports the reset.
  if ((events & POLLERR) != 0 && !peer.connection->wants_input()) look_for_reset(peer, now);
}

void ReadyExchange::look_for_reset(ReadyPeer& peer, Time now) {
  if (const int error = error_of(peer); error != 0) peer.connection->failed({Stage::receive, error, {}}, now);
}

bool ReadyExchange::receive_once(ReadyPeer& peer, Time now) {
  if (peer.error != 0 && unread_bytes(peer.socket.get()) == 0) {
    peer.connection->failed({Stage::receive, peer.error, {}}, now);
    return false;
  }
  const std::size_t for_file = file_input_.wanted(*peer.connection);
  const bool more = for_file == 0 ? receive(peer, buffer_, now)
                                  : file_input_.receive_ready(peer.socket.get(), *peer.connection, for_file,
                                                              peer.end_is_near, now);
  // A hint of libkqueue may be wrong, and would cost a second recv for every message.
  if (!more && peer.error == 0 && peer.connection->wants_input()) peer.end_is_near = false;
  return more;
}

bool ReadyExchange::receive(ReadyPeer& peer, std::span<std::byte> buffer, Time now) {
  return receive_ready(peer.socket.get(), *peer.connection, buffer, peer.end_is_near, now);
}

bool ReadyExchange::send(ReadyPeer& peer, Time now) {
  return send_ready(peer.socket.get(), *peer.connection, now);
}

// Sends the output. Returns true when the quota is used up.
bool ReadyExchange::flush(ReadyPeer& peer, Time now) {
  unsigned sends = 0;
  while (peer.writable && peer.connection->has_output()) {
    if (++sends > kSendsOfPeer) return true;
    peer.writable = send(peer, now);
  }
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now);
  return false;
}

template class LoopCore<ReadyPeer>;

ReadyLoop::ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
                     std::unique_ptr<ReadyExchange> exchange)
    : LoopCore(hosting, stop, group, index), exchange_(std::move(exchange)) {}

void ReadyLoop::start_dials() {
  LoopCore::start_dials(exchange_->socket_flags());
}

void ReadyLoop::connect(Peer& peer) {
  const int error = exchange_->connect(peer, endpoint_of(peer));
  if (error != EINPROGRESS) return finish_dial(peer, error);
  arm(peer);
}

// Returns the events of a peer that are to be watched. Where no reset is reported, a peer from which nothing
// is wanted is watched for input, which a reset is too; once it has sent unwanted bytes, it is not watched.
unsigned ReadyLoop::wanted(const Peer& peer) const {
  if (!peer.connection) return POLLOUT;  // connecting
  const unsigned output = peer.writable ? 0U : POLLOUT;
  if (reports_.changes) return POLLIN | output;
  const unsigned events = (peer.connection->wants_input() ? POLLIN : 0U) | output;
  if (events != 0) return events;
  return (reports_.resets ? peer.has_hung_up : peer.readable) ? 0U : kReset;
}

void ReadyLoop::arm(Peer& peer) {
  const unsigned events = wanted(peer);
  if (events == 0 && !reports_.resets) any_unseen_ = true;
  if (events != peer.armed) watch(peer, events);
}

Duration ReadyLoop::next_wait() const {
  if (!unfinished_.empty()) return Duration::zero();
  const Duration wait = LoopCore::next_wait();
  return any_unseen_ ? std::clamp(look_at_ - now(), Duration::zero(), wait) : wait;
}

void ReadyLoop::ready_peer(Peer& peer, unsigned events, int error) {
  if (peer.leaving) return;
  if (error != 0) peer.error = error;
  if (!peer.connection) return guarded(peer, [&] { finish_dial(peer, ReadyExchange::error_of(peer)); });
  guarded(peer, [&] {
    if (peer.armed == kReset) ReadyExchange::look_for_reset(peer, now());
    ReadyExchange::note_events(peer, events, now());
  });
  attend(peer);
}

void ReadyLoop::ready_listener(const Listener& listener) {
  accept_peers(listener, exchange_->socket_flags());
}

void ReadyLoop::serve(Peer& peer) {
  if (peer.armed == Watched::kUnwatched) exchange_->prepare(peer);
  const bool unfinished = exchange_->serve(peer, now(), [this] { return is_batching(); });
  if (unfinished && !peer.leaving) unfinished_.push(peer);
  if (!peer.connection->ended()) arm(peer);
}

void ReadyLoop::look_for_resets() {
  if (!any_unseen_ || now() < look_at_) return;
  look_at_ = now() + kLookEvery;
  any_unseen_ = false;
  for (const auto& peer : peers()) {
    if (peer->armed != 0 || peer->leaving) continue;
    guarded(*peer, [&] { ReadyExchange::look_for_reset(*peer, now()); });
    attend(*peer);
  }
}

void ReadyLoop::finish_turn() {
  look_for_resets();
  resume(unfinished_);
  fire_deadlines();
  pass_publications();
  if (is_stopping()) stop_by_and_by();
  sweep();
}

void ReadyLoop::stop_by_and_by() {
  if (draining()) return;
  end_accepting(exchange_->socket_flags());
  if (!may_drain()) return;
  admit_dealt();
  // Input that has arrived is read before the sessions get the stop.
  for (const auto& peer : peers()) peer->readable = exchange_->may_receive_again(*peer);
  begin_drain();
}

}  // namespace joust
