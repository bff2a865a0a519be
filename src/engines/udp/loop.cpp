// SPDX-License-Identifier: MIT
#include "engines/udp/loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "connection/account.hpp"
#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"

namespace joust {

template class LoopCore<UdpPeer>;

namespace {

// During a stop, for how many turns the loop reads input that may have arrived before the stop.
constexpr unsigned kMostTurnsOfStop = 100;

// The sends of one turn. Meanwhile nothing is read, and a full receive buffer loses datagrams.
constexpr std::size_t kMostSends = 4096;

}  // namespace

UdpPlace::UdpPlace(Shares& places, PeerAddress address, UdpNotice& notice, Time now)
    : Holder(address), places_(places), notice_(notice) {
  if (!places_.take(*this, now)) throw no_place();
}

void open_session(const Hosting& hosting, UdpPeer& peer, Time now) {
  ConnectionInfo info{.delivery = peer.link.delivery};
  if (peer.own)
    hosting.target->note_facts(peer.socket.get());
  else
    info.peer = peer_address(peer.address);
  auto session = peer.session ? std::move(peer.session) : hosting.service.open(info);
  peer.connection.emplace(std::move(session), peer.link, hosting.limits, hosting.tally, now);
}

UdpLoop::UdpLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index),
      packs_(hosting.options.is("pack", "on")),
      table_key_(random_key()),
      admission_(random_key()) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
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
  epoll_.remove(socket.fd);
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
                             .packs = packs_,
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
  epoll_.watch(socket.fd, socket, EPOLLIN | (socket.writable ? 0U : unsigned{EPOLLOUT}));
}

std::span<UdpSocket* const> UdpLoop::wait() {
  start_dials(SOCK_NONBLOCK);
  const bool at_once = !sending_.empty() || (stopping_ && !draining() && may_drain());
  const Duration most = at_once ? Duration::zero() : next_wait();
  inputs_.clear();
  sends_left_ = kMostSends;
  for (const epoll_event& event : epoll_.first(woken(epoll_.wait(most, hosting().tally), "epoll_pwait2()"))) {
    void* const tag = event.data.ptr;
    if (tag == &stop()) {
      stopping_ = true;
      epoll_.control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);  // it stays readable
    } else if (tag == &inbox()) {
      admit_dealt();  // no peer is dealt here: only clears the waker
    } else {
      UdpSocket& socket = *static_cast<UdpSocket*>(tag);
      if ((event.events & EPOLLOUT) != 0) {
        socket.writable = true;
        watch(socket);
        queue(socket);
      }
      if ((event.events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) inputs_.push_back(&socket);
    }
  }
  return inputs_;
}

void UdpLoop::finish_turn() {
  if (notice_.take()) end_those_that_give_way();
  fire_deadlines();
  pass_publications();
  if (stopping_) stop_by_and_by();
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
                 .packs = packs_};
    watch(*peer.own);
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

}  // namespace joust
