// SPDX-License-Identifier: MIT
//
// The part of a loop that handles datagrams: those that have come, and those to be sent.
#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/udp/loop.hpp"

namespace joust {
namespace {

// The number of refusals in a row that ends a connection: its server's socket is closed.
constexpr unsigned kMostRefusals = 3;

// Returns true for errors that the network reports for an earlier datagram.
bool is_of_network(int error) {
  switch (error) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EMSGSIZE:  // a packet was too large for the way
    case EPERM:     // a firewall refused it
      return true;
    default:
      return false;
  }
}

DatagramCounts counted(NoDatagram why) {
  return {.foreign = why == NoDatagram::foreign, .truncated = why == NoDatagram::truncated};
}

}  // namespace

// Receiving.

void UdpLoop::received(UdpSocket& socket, Bytes bytes, const Endpoint& from) {
  const auto datagram = parse_datagram(bytes);
  if (!datagram) return hosting().tally.add(counted(datagram.error()));
  Peer* const peer = socket.only != nullptr ? socket.only : socket.peers.find(bytes_of(from));
  if (peer != nullptr && peer->link.token == datagram->head.token) return hear(*peer, *datagram, from);
  if (socket.only != nullptr) return hosting().tally.add({.foreign = 1});
  hear_stranger(socket, datagram->head, from, peer);
}

// Handles a datagram to a group. Any program may send there.
void UdpLoop::received_by_group(UdpSocket& socket, Bytes bytes, const Endpoint& from) {
  Peer& peer = *socket.only;
  if (from != peer.address) return hosting().tally.add({.foreign = 1});  // without reading all its bytes
  const auto datagram = parse_datagram(bytes);
  if (!datagram) return hosting().tally.add(counted(datagram.error()));
  if (datagram->head.kind != DatagramKind::data) return hosting().tally.add({.foreign = 1});
  if (peer.connection) hear(peer, *datagram, from);
}

void UdpLoop::hear(Peer& peer, const Datagram& datagram, const Endpoint& from) {
  peer.refusals = 0;
  if (peer.leaving) return;
  if (!peer.connection) return hear_while_joining(peer, datagram, from);
  stamp();
  if (peer.place && datagram.head.kind == DatagramKind::data) peer.place->made_progress(now());
  guarded(peer, [&] { peer.connection->received(datagram, now()); });
  attend(peer);
}

void UdpLoop::hear_while_joining(Peer& peer, const Datagram& datagram, const Endpoint& from) {
  if (!peer.connected && datagram.head.kind == DatagramKind::challenge)
    guarded(peer, [&] { found(peer, from, datagram.head); });
  if (peer.leaving) return;
  if (!peer.joining->received(datagram.head, now())) return talk(peer);
  finish_dial(peer, 0);
  if (!peer.connection || peer.leaving) return;
  guarded(peer, [&] { peer.connection->received(datagram, now()); });
  attend(peer);
}

void UdpLoop::hear_stranger(UdpSocket& socket, const DatagramHead& head, const Endpoint& from, Peer* known) {
  Admission::Answer answer = admission_.answer(head, bytes_of(from), now());
  if (answer.reply && answer.reply->kind == DatagramKind::challenge)
    answer.reply->group = group_peer_ != nullptr;
  if (answer.reply) return reply(socket, from, *answer.reply);
  if (!answer.admitted) return hosting().tally.add({.foreign = 1});
  if (stopping_) return;
  const bool takes_a_place = known != nullptr && known->connection;  // the place of the old peer
  if (is_full() && !takes_a_place)
    return hosting().tally.note("joins were left unanswered: at the connection limit");
  if (takes_a_place) {
    guarded(*known, [&] {
      known->connection->failed({Stage::receive, ECONNRESET, "its address has begun another connection"},
                                now());
    });
    attend(*known);
  }
  admit_newcomer(socket, from,
                 MessageLink{.side = MessageLink::Side::server,
                             .token = head.token,
                             .delivery = kUdpDelivery,
                             .packs = packs_,
                             .group = group_peer_ != nullptr ? &sent_to_group_ : nullptr});
}

// Queues an answer to a stranger. Without room or memory for it, the stranger has to ask again.
void UdpLoop::reply(UdpSocket& socket, const Endpoint& to, const DatagramHead& head) {
  if (socket.replies.size() >= UdpSocket::kMostReplies)
    return hosting().tally.note("answers to strangers were dropped: too many waited for room in the socket");
  try {
    socket.replies.push_back({to, head});
  } catch (const std::bad_alloc&) {
    return;
  }
  queue(socket);
}

void UdpLoop::receive_failed(UdpSocket& socket, int error) {
  if (error == EAGAIN || error == EINTR) return;
  if (is_of_network(error)) return unreachable(socket, error);
  hosting().tally.note("receiving failed: " + std::generic_category().message(error));
  pause_for_shortage();
}

// Handles an error of the network. A client's socket reports in this way that no program listens at the other
// end, or that no way leads there.
void UdpLoop::unreachable(UdpSocket& socket, int error) {
  hosting().tally.add({.unreachable = 1});
  Peer* const peer = socket.only;
  if (peer == nullptr || peer->leaving || error != ECONNREFUSED) return;
  if (!peer->connection) return finish_dial(*peer, error);
  if (peer->connection->is_leaving() || peer->connection->only_lingers()) return leave(*peer);
  hosting().tally.note("datagrams were refused: for a time no program listened at the other end");
  if (++peer->refusals < kMostRefusals) return;
  guarded(*peer, [&] { peer->connection->failed({Stage::receive, error, {}}, now()); });
  attend(*peer);
}

// Sending.

std::size_t UdpLoop::fill(UdpSocket& socket, UdpBatch& batch) {
  batch.clear();
  std::size_t copies = 0;  // copies that the kernel makes for the members of a group, which take time
  while (!batch.full()) {
    Peer* const peer = socket.talkers.pop();
    if (peer == nullptr) break;
    const std::size_t count = collect(*peer, batch.room());
    if (peer == group_peer_) copies += count * peers().size();
    if (count > 0)
      batch.add(peer, peer->destination(), count);
    else
      attend(*peer);
  }
  // Strangers come last: many of them must not keep peers waiting.
  for (std::size_t i = 0; i < socket.replies.size() && !batch.full(); ++i) {
    write_signal(socket.replies[i].head, batch.room().front());
    batch.add(nullptr, &socket.replies[i].to, 1);
  }
  sends_left_ -= std::min(sends_left_, std::max<std::size_t>(batch.size() + copies, 1));
  return batch.size();
}

std::size_t UdpLoop::collect(Peer& peer, std::span<DatagramOut> into) {
  std::size_t count = 0;
  guarded(peer, [&] {
    if (peer.connection)
      count = peer.connection->output(into, now());
    else
      count = peer.joining->output(into.front(), now()) ? 1 : 0;
  });
  return count;
}

void UdpLoop::sent(UdpSocket& socket, UdpBatch& batch, std::size_t n, int error) {
  if (n == 0 && error != 0) return refused(socket, batch, error);
  socket.failures = 0;
  give_back(socket, batch, n);
  if (is_of_network(error)) unreachable(socket, error);  // of an earlier datagram; other errors occur again
}

// Gives back the batch, of which the first n datagrams are done. A peer that has more to send is a talker
// again.
void UdpLoop::give_back(UdpSocket& socket, UdpBatch& batch, std::size_t n) {
  for (const UdpBatch::Run& run : batch.runs_) {
    const std::size_t part = std::min(n, run.count);
    n -= part;
    if (run.peer == nullptr) {
      if (part > 0) socket.replies.pop_front();
      continue;
    }
    Peer& peer = *run.peer;
    if (!peer.connection) {
      if (part > 0) {
        peer.joining->sent(now());
        await_answer(peer);
      }
      talk(peer);
      continue;
    }
    if (part > 0) guarded(peer, [&] { peer.connection->sent(part, now()); });
    attend(peer);
  }
  batch.clear();
  queue(socket);
}

// Handles the refusal of the first datagram of the batch.
void UdpLoop::refused(UdpSocket& socket, UdpBatch& batch, int error) {
  if (error == EAGAIN) {
    socket.writable = false;
    watch(socket);
    return give_back(socket, batch, 0);
  }
  if (error == EINTR) return give_back(socket, batch, 0);
  // An error of the network is that of an earlier datagram, and this one is tried once more.
  const bool of_earlier = is_of_network(error) && ++socket.failures == 1;
  if (!of_earlier) drop_first(socket, batch);
  give_back(socket, batch, 0);
  if (is_of_network(error)) return unreachable(socket, error);
  hosting().tally.note("datagrams were not sent: " + std::generic_category().message(error));
}

void UdpLoop::drop_first(UdpSocket& socket, UdpBatch& batch) {
  if (batch.runs_.empty()) return;
  Peer* const peer = batch.runs_.front().peer;
  if (peer != nullptr && peer->connection)
    return guarded(*peer, [&] { peer->connection->not_sent(1, now()); });
  hosting().tally.add({.not_sent = 1});
  if (peer == nullptr) {
    socket.replies.pop_front();
  } else {
    peer->joining->sent(now());
    await_answer(*peer);
  }
}

}  // namespace joust
