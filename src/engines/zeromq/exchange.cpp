// SPDX-License-Identifier: MIT
//
// The part of a loop that handles messages: those that have come, and those to be sent.
#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/zeromq/engines.hpp"
#include "engines/zeromq/loop.hpp"
#include "engines/zeromq/sockets.hpp"

namespace joust {

// Receiving.

void ZmqLoop::received(ZmqLink& link) {
  const bool is_client = !link.is_server();
  const auto datagram = parse_datagram(link.parts[is_client ? 0 : 1].bytes());
  if (!datagram) {
    const bool foreign = datagram.error() == NoDatagram::foreign;
    return hosting().tally.add({.foreign = foreign, .truncated = !foreign});
  }
  const Bytes from = is_client ? Bytes{} : link.parts[0].bytes();
  Peer* const peer = is_client ? link.only : link.peers.find(from);
  if (peer != nullptr && peer->link.token == datagram->head.token) return hear(*peer, *datagram);
  if (is_client) return hosting().tally.add({.foreign = 1});
  hear_stranger(link, datagram->head, from, peer);
}

void ZmqLoop::hear(Peer& peer, const Datagram& datagram) {
  if (peer.leaving) return;
  if (!peer.connection) return hear_while_joining(peer, datagram);
  stamp();
  guarded(peer, [&] { peer.connection->received(datagram, now()); });
  attend(peer);
}

void ZmqLoop::hear_while_joining(Peer& peer, const Datagram& datagram) {
  if (!peer.joining->received(datagram.head, now())) return talk(peer);
  equip_source(hosting(), peer.own->parts.front());
  finish_dial(peer, 0);
  if (!peer.connection || peer.leaving) return;
  guarded(peer, [&] { peer.connection->received(datagram, now()); });
  attend(peer);
}

// TCP has confirmed the address already. The cookie is asked for all the same: an identity, which its peer
// chooses, costs no memory until the peer has answered.
void ZmqLoop::hear_stranger(ZmqLink& link, const DatagramHead& head, Bytes from, Peer* known) {
  const Admission::Answer answer = admission_.answer(head, from, now());
  if (answer.reply) return reply(link, {std::string(as_text(from)), *answer.reply});
  if (!answer.admitted) return hosting().tally.add({.foreign = 1});
  if (stopping_) return;
  const bool takes_a_place = known != nullptr && known->connection;  // the place of the old peer
  if (full() && !takes_a_place)
    return hosting().tally.note("joins were left unanswered: at the connection limit");
  if (takes_a_place) {
    guarded(*known, [&] {
      known->connection->failed({Stage::receive, ECONNRESET, "its identity has begun another connection"},
                                now());
    });
    attend(*known);
  }
  equip_source(hosting(), link.parts.back());
  admit_newcomer(
      link, from,
      MessageLink{.side = MessageLink::Side::server, .token = head.token, .delivery = kZmqDelivery});
}

// Queues an answer to a stranger. Beyond the limit, strangers have to ask again.
void ZmqLoop::reply(ZmqLink& link, ZmqLink::Reply&& reply) {
  if (link.replies.size() + link.put_off.size() >= ZmqLink::kMostReplies) return;
  try {
    link.replies.push_back(std::move(reply));
  } catch (const std::bad_alloc&) {
    return;
  }
  if (link.may_send() && !link.queued()) busy_.push(link);
}

// Sending.

void ZmqLoop::send_next(ZmqLink& link) {
  --link.sends_left;
  if (!link.replies.empty()) return send_reply(link);
  Peer& peer = *link.talkers.pop();
  const std::size_t count = collect(peer);
  if (count == 0) return attend(peer);
  std::size_t n = 0;
  int error = 0;
  while (n < count && error == 0) {
    error = put(link, as_bytes(peer.identity), batch_[n]);
    if (error == 0) ++n;
  }
  link.sends_left -= std::min(link.sends_left, count - 1);
  link.looked_at = false;
  if (std::exchange(peer.is_full, error == EAGAIN) && n > 0) link.retry_pause = {};
  if (n > 0) sent(peer, n);
  if (error == 0 || peer.leaving) return;
  if (error != EAGAIN) return refused(peer, error);
  if (link.is_server()) {
    retry_later(link);
    return link.blocked.push(peer);
  }
  link.writable = false;
  link.talkers.push(peer);
}

// Sends the first answer. An answer to a stranger is dropped if it finds no room, because the stranger asks
// again. An answer to a peer whose connection was broken off is kept for a while, because that peer asks
// nothing: it may take what its pipe holds first.
void ZmqLoop::send_reply(ZmqLink& link) {
  DatagramOut out;
  ZmqLink::Reply& first = link.replies.front();
  write_signal(first.head, out);
  const int error = put(link, as_bytes(first.to), out);
  link.looked_at = false;
  if (error == EAGAIN && now() < first.until) {
    retry_later(link);
    link.put_off.push_back(std::move(first));
    return link.replies.pop_front();
  }
  link.replies.pop_front();
  if (error != 0) hosting().tally.add({.not_sent = 1});
}

// Fills the batch from a peer. A peer whose pipe was full is tried with one datagram.
std::size_t ZmqLoop::collect(Peer& peer) {
  std::size_t count = 0;
  guarded(peer, [&] {
    if (peer.connection)
      count = peer.connection->output(std::span(batch_).first(peer.is_full ? 1 : kBatch), now());
    else
      count = peer.joining->output(batch_.front(), now()) ? 1 : 0;
  });
  return count;
}

void ZmqLoop::sent(Peer& peer, std::size_t n) {
  if (!peer.connection) {
    peer.joining->sent(now());
    return await_answer(peer);
  }
  guarded(peer, [&] { peer.connection->sent(n, now()); });
  attend(peer);
}

// The peer has gone, or was sent more than it took. A goodbye cannot reach it then.
void ZmqLoop::refused(Peer& peer, int error) {
  if (!peer.connection) {
    hosting().tally.add({.not_sent = 1});
    peer.joining->sent(now());
    return await_answer(peer);
  }
  if (peer.connection->is_leaving() || peer.connection->only_lingers()) return leave(peer);
  hosting().tally.add({.not_sent = 1});
  const char* const why = error == EHOSTUNREACH ? "the peer has gone"
                          : error == ENOMEM     ? "no memory for a message"
                                                : "the peer does not take what it is sent";
  guarded(peer, [&] { peer.connection->failed({Stage::send, error, why}, now()); });
  attend(peer);
}

}  // namespace joust
