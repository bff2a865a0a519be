// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/udp/loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "connection/account.hpp"
#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/udp/peer.hpp"

namespace joust {

template class LoopCore<UdpPeer>;
namespace {

// During a stop, for how many turns the loop reads input that may have arrived before the stop.
constexpr unsigned kMostTurnsOfStop = 100;

// The sends of one turn. Meanwhile nothing is read, and a full receive buffer loses datagrams.
constexpr std::size_t kMostSends = 4096;

// The number of refusals in a row that ends a connection: its server's socket is closed.
constexpr unsigned kMostRefusals = 3;

DatagramCounts counted(NoDatagram why) {
  return {.foreign = why == NoDatagram::foreign, .truncated = why == NoDatagram::truncated};
}

}  // namespace

UdpLoop::UdpLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index),
      link_{.delivery = kUdpDelivery,
            .packs = hosting.options.is("pack", "on") && !hosting.options.is("wire", "plain"),
            .plain = hosting.options.is("wire", "plain")},
      table_key_(random_key()),
      admission_(random_key()) {
  epoll_.watch(stop.fd(), doors_.stop, POLLIN);
  epoll_.watch(inbox().waker().fd(), doors_.inbox, POLLIN);
  // The kernel shares datagrams out by the number of sockets. So no socket is closed before all loops have
  // ended: datagrams for the peers of other loops would go astray.
  for (const Listener* listener : hosting.listeners)
    add_server_socket(index > 0 ? group.keep(listener->sibling()) : listener->fd());
}

UdpLoop::~UdpLoop() {
  for (const auto& peer : peers()) {
    peer->place.reset();  // while the notice that it refers to exists
    if (peer->own) forget(*peer->own);
    if (peer->group) forget(*peer->group);
  }
  for (UdpSocket& socket : servers_) forget(socket);
}

// Ends the use of a socket that is about to be closed, or that no loop will read any more.
void UdpLoop::forget(UdpSocket& socket) {
  const std::uint64_t drops = dropped_datagrams(socket.fd);
  hosting().tally.add({.kernel_drops = drops});
  if (drops > 0 && socket.joins_datagrams)
    hosting().tally.note("kernel_drops counts datagrams that the kernel has joined (UDP_GRO) as one");
  epoll_.forget(socket.fd, socket);
}

UdpSocket& UdpLoop::add_server_socket(int fd) {
  UdpSocket& socket = servers_.emplace_back(fd, table_key_);
  watch(socket);
  return socket;
}

void UdpLoop::hear_group(Peer& peer, Fd socket) {
  peer.group = std::make_unique<UdpSocket>(std::move(socket), table_key_);
  peer.group->only = &peer;
}

// Admits the group as a peer from which nothing comes. It is no connection, and takes no connection's place.
void UdpLoop::open_group(UdpSocket& through, const Endpoint& group) {
  auto session = hosting().service.open_group(kUdpDelivery);
  if (!session) return;
  sent_to_group_.token = admission_.token(++tokens_);
  admit_newcomer(through, group,
                 MessageLink{.side = MessageLink::Side::group,
                             .token = sent_to_group_.token,
                             .delivery = kUdpDelivery,
                             .packs = link_.packs,
                             .group = &sent_to_group_},
                 std::move(session));
  if (peers().empty() || !peers().back()->connection)
    throw std::runtime_error("the session for the group could not be opened");
  group_peer_ = peers().back().get();
}

// Called when the group's session has given up, or has failed: the other peers would wait for output that
// never comes.
void UdpLoop::end_group() {
  sent_to_group_.drains = false;
  for (const auto& peer : peers()) {
    if (!peer->connection || peer->leaving) continue;
    if (draining()) {
      attend(*peer);  // it may say its goodbye now
      continue;
    }
    guarded(*peer, [&] {
      peer->connection->failed({Stage::local, 0, "the output for the group has ended"}, now());
    });
    attend(*peer);
  }
}

void UdpLoop::end_those_that_give_way() {
  hosting().tally.note(kGaveWay);
  for (const auto& peer : peers()) {
    if (!peer->place || !peer->place->gives_way() || !peer->connection || peer->leaving) continue;
    guarded(*peer, [&] { peer->connection->failed(gave_way(), now()); });
    attend(*peer);
  }
}

void UdpLoop::watch(UdpSocket& socket) {
  const unsigned events = POLLIN | (socket.writable ? 0U : unsigned{POLLOUT});
  if (events != socket.armed) epoll_.watch(socket.fd, socket, events);
}

std::span<UdpSocket* const> UdpLoop::wait() {
  start_dials(SOCK_NONBLOCK);
  const bool at_once = !sending_.empty() || (is_stopping() && !draining() && may_drain());
  inputs_.clear();
  sends_left_ = kMostSends;
  epoll_.wait(*this, at_once ? Duration::zero() : next_wait());
  return inputs_;
}

void UdpLoop::ready(Watched& what, unsigned events) {
  if (what.kind == Watched::Kind::inbox)
    return admit_dealt();  // no peer is dealt here: only clears the waker
  if (what.kind == Watched::Kind::stop) {
    request_stop();
    return epoll_.forget(stop().fd(), what);  // it stays readable
  }
  auto& socket = static_cast<UdpSocket&>(what);
  if ((events & POLLOUT) != 0) {
    socket.writable = true;
    watch(socket);
    queue(socket);
  }
  if ((events & (POLLIN | POLLERR | POLLHUP)) != 0) inputs_.push_back(&socket);
}

void UdpLoop::finish_turn() {
  if (notice_.take()) end_those_that_give_way();
  fire_deadlines();
  pass_publications();
  if (is_stopping()) stop_by_and_by();
  // Peers that only wait for a repeated question do not keep the loop from ending.
  const bool ends = draining() || !hosting().serves();
  if (ends && lingering_ > 0 && lingering_ == peers().size())
    for (const auto& peer : peers())
      if (!peer->queued()) leave(*peer);  // a queued peer first repeats its answer
}

void UdpLoop::stop_by_and_by() {
  if (draining()) return;
  end_admitting();
  if (!may_drain()) return;
  if (!inputs_.empty() && ++turns_of_stop_ < kMostTurnsOfStop) return;  // what has arrived comes first
  sent_to_group_.drains = group_peer_ != nullptr;
  begin_drain();
}

// Ends the group after the sweep, and sweeps again. Members that leave now would otherwise stay until
// something else wakes the loop.
void UdpLoop::sweep() {
  LoopCore::sweep();
  if (!std::exchange(group_ended_, false)) return;
  end_group();
  LoopCore::sweep();
}

UdpSocket* UdpLoop::next_talker() {
  while (UdpSocket* socket = sends_left_ > 0 ? sending_.pop() : nullptr) {
    if (!socket->may_send()) continue;
    sending_.push(*socket);
    return socket;
  }
  return nullptr;
}

void UdpLoop::queue(UdpSocket& socket) {
  if (socket.may_send() && !socket.queued()) sending_.push(socket);
}

// The life of a peer.

// Called again whenever the join is to be repeated.
void UdpLoop::connect(Peer& peer) {
  if (!peer.joining) {
    if (const int error = approach(peer, endpoint_of(peer)); error != 0) return finish_dial(peer, error);
    peer.own = std::make_unique<UdpSocket>(peer.socket.get(), table_key_);
    peer.own->only = &peer;
    peer.through = peer.own.get();
    peer.joining.emplace(admission_.token(++tokens_), now());
    peer.link = {.side = MessageLink::Side::client,
                 .token = peer.joining->token(),
                 .delivery = kUdpDelivery,
                 .packs = link_.packs,
                 .plain = link_.plain};
    watch(*peer.own);
    if (link_.plain) return finish_dial(peer, 0);  // there is nobody to ask
  }
  talk(peer);
  if (!peer.queued()) await_answer(peer);  // the timer was set for an earlier join
}

int UdpLoop::approach(Peer& peer, const Endpoint& server) {
  peer.connected = ::connect(peer.socket.get(), server.raw(), server.size) == 0;
  return peer.connected ? 0 : errno;
}

// Sets the timer after which the join is repeated if no answer has come.
void UdpLoop::await_answer(Peer& peer) {
  peer.dial.again = true;
  set_deadline(peer, peer.joining->due());
}

void UdpLoop::tell(Peer& peer, News news) {
  const bool is_member = peer.link.side == MessageLink::Side::server;
  if (news == News::established && is_member) {
    if (Account* const account = hosting().account)
      peer.place =
          std::make_unique<UdpPlace>(account->connections(), peer_address(peer.address), notice_, now());
    peer.through->peers.add(bytes_of(peer.address), peer);
  }
  if (news == News::established && peer.group) watch(*peer.group);
  LoopCore::tell(peer, news);
}

void UdpLoop::serve(Peer& peer) {
  note_lingering(peer);
  if (!is_batching()) talk(peer);
}

void UdpLoop::talk(Peer& peer) {
  if (peer.leaving || peer.queued()) return;
  const bool has_output =
      peer.connection ? peer.connection->has_output() : peer.joining && now() >= peer.joining->due();
  if (!has_output) return;
  peer.through->talkers.push(peer);
  queue(*peer.through);
}

void UdpLoop::note_lingering(Peer& peer) {
  if (peer.only_lingers || !peer.connection->only_lingers()) return;
  peer.only_lingers = true;
  ++lingering_;
}

bool UdpLoop::let_go(Peer& peer) {
  if (peer.only_lingers) --lingering_;
  if (&peer == group_peer_) {
    group_peer_ = nullptr;
    group_ended_ = true;
  }
  if (peer.group) forget(*peer.group);
  if (peer.own) {
    forget(*peer.own);
  } else if (peer.through != nullptr) {  // null for a peer whose connect was refused at once
    peer.through->peers.remove(bytes_of(peer.address), peer);
    if (peer.connection && peer.connection->is_broken_off())
      reply(*peer.through, peer.address, Admission::unknown(peer.link.token));
  }
  return true;
}

// Receiving.

void UdpLoop::received(UdpSocket& socket, Bytes bytes, const Endpoint& from) {
  if (link_.plain && socket.only != nullptr) return hear(*socket.only, {.head = {}, .payload = bytes}, from);
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
  if (is_stopping()) return;
  const bool takes_a_place = known != nullptr && known->connection;  // the place of the old peer
  if (room(group_peer_ != nullptr ? 1 : 0) == 0 && !takes_a_place)
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
                             .packs = link_.packs,
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
