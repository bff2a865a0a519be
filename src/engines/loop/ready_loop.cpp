// SPDX-License-Identifier: MIT
#include "engines/loop/ready_loop.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {

template class LoopCore<ReadyPeer>;

ReadyLoop::ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : ReadyLoop(hosting, stop, group, index, std::make_unique<ReadyExchange>(hosting)) {}

ReadyLoop::ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
                     std::unique_ptr<ReadyExchange> exchange)
    : LoopCore(hosting, stop, group, index), exchange_(std::move(exchange)) {}

unsigned ReadyLoop::interest(const Peer& peer) const {
  if (!peer.connection) return POLLOUT;  // connecting
  return (peer.connection->wants_input() ? POLLIN : 0U) | (peer.writable ? 0U : POLLOUT);
}

void ReadyLoop::start_dials() {
  LoopCore::start_dials(exchange_->socket_flags());
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

void ReadyLoop::ready(Peer& peer, unsigned events) {
  if (peer.leaving) return;
  if (!peer.connection) return guarded(peer, [&] { finish_dial(peer, ReadyExchange::error_of(peer)); });
  guarded(peer, [&] { ReadyExchange::note_events(peer, events, now()); });
  attend(peer);
}

void ReadyLoop::look_for_reset(Peer& peer) {
  guarded(peer, [&] { ReadyExchange::look_for_reset(peer, now()); });
}

void ReadyLoop::ready_listener(const Listener& listener) {
  if (accepts()) accept_peers(listener, exchange_->socket_flags());
}

void ReadyLoop::serve(Peer& peer) {
  const bool unfinished = exchange_->serve(peer, now(), [this] { return is_batching(); });
  if (unfinished && !peer.leaving) unfinished_.push(peer);
  if (!peer.connection->ended()) watch(peer);
}

void ReadyLoop::finish_turn() {
  resume(unfinished_);
  fire_deadlines();
  pass_publications();
  if (stopping_) stop_by_and_by();
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
