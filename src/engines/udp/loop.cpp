// SPDX-License-Identifier: MIT
#include "engines/udp/loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"

namespace joust {

template class LoopCore<UdpPeer>;

namespace {

// During a stop, for how many turns more is read that may have arrived before it.
constexpr unsigned kMostTurnsOfStop = 100;

// In a turn. Meanwhile nothing is read, and a full buffer loses what comes.
constexpr std::size_t kMostSends = 4096;

}  // namespace

void open_session(const Hosting& hosting, UdpPeer& peer, Time now) {
  Opening opening{.delivery = peer.link.delivery};
  if (peer.own)
    hosting.target->note_facts(peer.socket.get());
  else
    opening.peer = peer_address(peer.address);
  peer.connection.emplace(hosting.service.open(opening), peer.link, hosting.limits, hosting.tally, now);
}

UdpLoop::UdpLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index, bool packs)
    : LoopCore(hosting, stop, group, index),
      packs_(packs),
      table_key_(random_key()),
      admission_(random_key()) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  for (const Listener* listener : hosting.listeners) {
    if (index > 0) siblings_.push_back(listener->sibling());
    add_server_socket(index > 0 ? siblings_.back().get() : listener->fd());
  }
}

UdpLoop::~UdpLoop() {
  for (const auto& peer : peers())
    if (peer->own) count_drops(peer->own->fd);
  for (const UdpSocket& socket : servers_) {
    count_drops(socket.fd);
    epoll_.remove(socket.fd);
  }
}

void UdpLoop::count_drops(int fd) {
  hosting().tally.add({.kernel_drops = dropped_datagrams(fd)});
}

void UdpLoop::add_server_socket(int fd) {
  watch(servers_.emplace_back(fd, table_key_));
}

void UdpLoop::watch(UdpSocket& socket) {
  epoll_.watch(socket.fd, socket, EPOLLIN | (socket.writable ? 0U : unsigned{EPOLLOUT}));
}

std::span<UdpSocket* const> UdpLoop::wait() {
  start_dials(SOCK_NONBLOCK);
  const bool at_once = !sending_.empty() || (stopping_ && !draining());
  const Duration most = at_once ? Duration::zero() : next_wait();
  inputs_.clear();
  sends_left_ = kMostSends;
  for (const epoll_event& event : epoll_.first(woken(epoll_.wait(most, hosting().tally), "epoll_pwait2()"))) {
    void* const tag = event.data.ptr;
    if (tag == &stop()) {
      stopping_ = true;
      epoll_.control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);  // it stays readable
    } else if (tag == &inbox()) {
      admit_dealt();  // nobody: a publication has woken the loop
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
  fire_deadlines();
  pass_publications();
  if (stopping_) stop_by_and_by();
  // Whoever only waits for a repeated question does not keep the others from ending.
  const bool ends = draining() || !hosting().serves();
  if (ends && lingering_ > 0 && lingering_ == peers().size())
    for (const auto& peer : peers()) leave(*peer);
}

void UdpLoop::stop_by_and_by() {
  if (draining()) return;
  end_admitting();
  if (!may_drain()) return;
  if (!inputs_.empty() && ++turns_of_stop_ < kMostTurnsOfStop) return;  // what has arrived is read first
  begin_drain();
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

// Called again whenever the join has to be repeated.
void UdpLoop::connect(Peer& peer) {
  if (!peer.joining) {
    const Endpoint& to = endpoint_of(peer);
    if (::connect(peer.socket.get(), to.raw(), to.size) != 0) return finish_dial(peer, errno);
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
  if (!peer.queued()) await_answer(peer);  // the timer was that of an earlier join
}

// The join is repeated if none comes.
void UdpLoop::await_answer(Peer& peer) {
  peer.dial.again = true;
  set_deadline(peer, peer.joining->due());
}

void UdpLoop::tell(Peer& peer, News news) {
  if (news == News::established && !peer.own) peer.through->peers.add(bytes_of(peer.address), peer);
  LoopCore::tell(peer, news);
}

void UdpLoop::serve(Peer& peer) {
  note_lingering(peer);
  if (!is_gathering()) talk(peer);
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
  if (peer.own) {
    count_drops(peer.own->fd);
    epoll_.remove(peer.own->fd);
  } else if (peer.through != nullptr) {  // not one whose connect was refused at once
    peer.through->peers.remove(bytes_of(peer.address), peer);
  }
  return true;
}

}  // namespace joust
