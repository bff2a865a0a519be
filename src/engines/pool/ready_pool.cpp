// SPDX-License-Identifier: MIT
#include "engines/pool/ready_pool.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "engines/loop/ready_io.hpp"
#include "engines/pool/pool_core_impl.hpp"

namespace joust {

template class LoopCore<ReadyPoolPeer>;
template class PoolCore<ReadyPoolPeer>;

ReadyPool::ReadyPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : PoolCore(hosting, stop, group, index) {
  const std::size_t holders = std::max(1U, hosting.options.threads);
  while (exchanges_.size() < holders) exchanges_.emplace_back(hosting);
}

// The main thread.

void ReadyPool::start_dials() {
  LoopCore::start_dials(SOCK_NONBLOCK);
}

void ReadyPool::connect(Peer& peer) {
  const int error = exchanges_.front().connect(peer, endpoint_of(peer));
  if (error != EINPROGRESS) return finish_dial(peer, error);
  watch(peer, POLLOUT | kOnce);
}

void ReadyPool::ready_peer(Peer& peer, unsigned events, int error) {
  if (peer.leaving) return;
  if (error != 0) peer.told_error.store(error, std::memory_order_relaxed);
  if (peer.dial.in_progress)
    return guarded(peer, [&] { finish_dial(peer, error != 0 ? error : connect_result(peer.socket.get())); });
  hand(peer, events * Holding::kEvents);
}

void ReadyPool::ready_listener(const Listener& listener) {
  accept_peers(listener, SOCK_NONBLOCK);
}

void ReadyPool::stop_by_and_by() {
  end_accepting(SOCK_NONBLOCK);
  begin_drain();
}

// The steps of a peer's holder.

void ReadyPool::exchange(Peer& peer, unsigned notes, std::size_t worker, Time now) {
  const unsigned events = notes / Holding::kEvents;
  peer.error = peer.told_error.load(std::memory_order_relaxed);
  ReadyExchange::note_events(peer, events, now);
  if ((notes & Holding::kStop) != 0) peer.readable = true;  // to read what has arrived
  if (peer.connection->ended()) return;
  const bool telling = (notes & Holding::kPublished) != 0;
  const auto is_batching = [&] { return !telling && awaits_publications(); };
  peer.unfinished = exchanges_[worker].serve(peer, now, is_batching);
}

// Watches the peer again. Input and output left after the quota come with the next report, because the kernel
// compares with the state, not with its changes. A peer without an interest is still watched for a reset,
// unless its hang-up has been reported, because that would be reported again at once.
bool ReadyPool::rest(Peer& peer) {
  const unsigned events =
      (peer.connection->wants_input() ? POLLIN : 0U) | (peer.unfinished || !peer.writable ? POLLOUT : 0U);
  if (events != 0 || !peer.has_hung_up) watch(peer, (events == 0 ? kReset : events) | kOnce);
  return true;
}

}  // namespace joust
