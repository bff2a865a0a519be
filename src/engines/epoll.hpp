// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fd.hpp"
#include "connection/tally.hpp"
#include "joust/time.hpp"
#include "net/listener.hpp"

namespace joust {

// epoll and poll use the same event bits.
static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLRDHUP == POLLRDHUP && EPOLLHUP == POLLHUP &&
              EPOLLERR == POLLERR);

// An epoll instance, its watch on the listeners, and the events of one turn. epoll.cpp has its calls; other
// engines use it too.
class EpollSet {
 public:
  EpollSet();

  // Calls epoll_ctl(); throws std::system_error.
  void control(int operation, int fd, std::uint32_t events, void* tag);
  // Removes the descriptor of a peer that leaves (EPOLL_CTL_DEL). An error does not matter then.
  void remove(int fd);

  // Watches these events of a descriptor. Its owner is the tag, and keeps the events. Makes no call if they
  // are watched already.
  template <typename Owner>
  void watch(int fd, Owner& owner, unsigned events) {
    if (events == owner.armed) return;
    control(owner.armed == Owner::kUnwatched ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, events, &owner);
    owner.armed = events;
  }
  // Ends the watch of a peer that is to be destroyed. close() ends the watch only if no other process has a
  // copy of the socket. A child has one until exec, and the kernel would go on to report the destroyed peer.
  // Returns true, as an answer of LoopCore's let_go(): nothing is in flight.
  template <typename Peer>
  bool let_go(const Peer& peer) {
    if (peer.armed != Peer::kUnwatched) remove(peer.socket.get());
    return true;
  }

  // Lets a wait poll the network cards of its sockets for so long before it sleeps (EPIOCSPARAMS, Linux 6.9).
  // Returns 0 or the errno.
  int poll_cards(std::chrono::microseconds most);

  // Adds listeners, which are not watched yet.
  void add(std::span<Listener* const> listeners);
  // While accepting is paused, a non-empty accept queue would wake a level-triggered loop again and again.
  // Changing a watch allocates no kernel memory, so a shortage cannot keep the loop from accepting again.
  void watch(std::span<Listener* const> listeners, bool accepts);
  void remove(std::span<Listener* const> listeners);

  // Calls epoll_pwait2() or, where that is refused, epoll_wait(). Returns the result of the call.
  int wait(Duration most, Tally& tally);
  std::span<const epoll_event> first(std::size_t count) const { return {events_.data(), count}; }

 private:
  Fd epoll_;
  bool accepting_ = false;  // the listeners are watched
  bool has_pwait2_ = true;  // Linux 5.11; a seccomp filter may refuse it
  std::array<epoll_event, 512> events_{};
};

}  // namespace joust
