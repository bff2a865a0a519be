// SPDX-License-Identifier: MIT
//
// select: one thread passes sets of its sockets to the kernel, which leaves the ready ones in them.
//
//     copy the sets --> select --> for each ready socket:  recv --> session --> send
//          ^                                                                      |
//          +----- deadlines <----- publications <----- the unfinished <-----------+
//
// Good at: the same as poll, and it runs on every system that has sockets. A change of a peer's interest is a
// bit and takes no system call; 10,000 sockets are 1,250 bytes a set. Bad at: thousands of connections, few
// of them busy, because each wait checks every socket. Two things are said of select that need not be so:
//
//   - "It is limited to 1,024 descriptors." That is FD_SETSIZE, the size of the C library's type fd_set. The
//     kernel takes sets of any size, so this engine has its own (loop/socket_set.hpp).
//   - "A ready socket may block." It may, so the sockets are non-blocking.
//
// select has no event for an error or a hang-up: both make a socket readable, and an error makes it writable
// too. The third set of select (`except`) is for urgent data only. So the reset of a peer from which nothing
// is wanted takes two steps. Such a peer is watched for input; when it becomes readable, SO_ERROR tells a
// reset from unread bytes. Unread bytes would wake the loop at every wait. So the socket is then in no set,
// and SO_ERROR is asked every 100 ms. Left out on purpose: urgent data, which no protocol here uses. recv and
// send are in loop/ready_io.cpp.
#include <poll.h>
#include <sys/select.h>

#include <algorithm>
#include <vector>

#include "engines/loop/ready_loop.hpp"
#include "engines/loop/socket_set.hpp"

namespace joust {
namespace {

// How often a peer that has sent unwanted bytes is checked for a reset.
constexpr Duration kLookEvery = std::chrono::milliseconds(100);

class SelectLoop : public ReadyLoop {
 public:
  SelectLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  struct Ready {
    Peer* peer;
    unsigned events;
  };

  // The states of a peer beside POLLIN and POLLOUT, in ReadyPeer::armed.
  static constexpr unsigned kReset = 1U << 16;     // nothing is wanted; readable means a reset or bytes
  static constexpr unsigned kUnwanted = 1U << 17;  // unread bytes exist: in no set

  std::size_t wait();
  Duration longest_wait() const;
  void dispatch();
  void gather_ready_peers();
  void look_for_resets();
  void watch(Peer& peer) override;
  bool let_go(Peer& peer) override;
  void reach(int fd);

  SocketSet reading_, writing_;    // peers to ask for: with input, with room
  SocketSet readable_, writable_;  // the question to select(), and its answer
  SocketSet unwanted_;             // the peers with kUnwanted
  Time look_at_{};                 // when these are checked for a reset
  std::vector<Peer*> peer_of_;     // by descriptor; null for others
  std::vector<Ready> ready_;       // the ready peers of this turn
};

SelectLoop::SelectLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : ReadyLoop(hosting, stop, group, index) {
  reach(stop.fd());
  reach(inbox().waker().fd());
  for (Listener* const listener : listeners()) reach(listener->fd());
}

void SelectLoop::run() {
  while (!over()) {
    start_dials();
    if (wait() > 0) dispatch();
    look_for_resets();
    finish_turn();
  }
}

std::size_t SelectLoop::wait() {
  readable_ = reading_;
  writable_ = writing_;
  readable_.set(stop().fd(), awaits_stop());
  readable_.set(inbox().waker().fd(), true);
  if (accepts())
    for (Listener* const listener : listeners()) readable_.set(listener->fd(), true);
  timeval timeout = to_timeval(longest_wait());
  const int highest = static_cast<int>(peer_of_.size()) - 1;
  return woken(::select(highest + 1, readable_.raw(), writable_.raw(), nullptr, &timeout), "select()");
}

Duration SelectLoop::longest_wait() const {
  if (unwanted_.empty()) return next_wait();
  return std::min(next_wait(), std::max(Duration::zero(), Duration(look_at_ - now())));
}

// Peers first: this result does not cover peers accepted or dealt meanwhile, and no peer leaves before
// sweep().
void SelectLoop::dispatch() {
  gather_ready_peers();
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const auto later = [&](std::size_t n) { return i + n < ready_.size() ? ready_[i + n].peer : nullptr; };
    fetch_ahead(later(1), later(2));
    Peer& peer = *ready_[i].peer;
    if (peer.armed == kReset) look_for_reset(peer);
    ready(peer, ready_[i].events);
  }
  for (Listener* const listener : listeners())
    if (readable_.contains(listener->fd())) ready_listener(*listener);
  if (readable_.contains(inbox().waker().fd())) admit_dealt();
  if (readable_.contains(stop().fd())) request_stop();
}

void SelectLoop::gather_ready_peers() {
  ready_.clear();
  visit_members(readable_, writable_, [&](int fd) {
    Peer* const peer = peer_of_[static_cast<std::size_t>(fd)];
    if (peer == nullptr) return;
    ready_.push_back(
        {peer, (readable_.contains(fd) ? POLLIN : 0U) | (writable_.contains(fd) ? POLLOUT : 0U)});
  });
}

void SelectLoop::look_for_resets() {
  if (unwanted_.empty() || now() < look_at_) return;
  look_at_ = now() + kLookEvery;
  visit_members(unwanted_, unwanted_, [&](int fd) {
    Peer& peer = *peer_of_[static_cast<std::size_t>(fd)];
    look_for_reset(peer);
    attend(peer);
  });
}

void SelectLoop::watch(Peer& peer) {
  const unsigned wanted = interest(peer);
  const unsigned events = wanted != 0 ? wanted : peer.readable ? kUnwanted : kReset;
  if (events == peer.armed) return;
  const int fd = peer.socket.get();
  reach(fd);
  peer_of_[static_cast<std::size_t>(fd)] = &peer;
  reading_.set(fd, (events & (POLLIN | kReset)) != 0);
  writing_.set(fd, (events & POLLOUT) != 0);
  unwanted_.set(fd, events == kUnwanted);
  peer.armed = events;
}

// Forgets the descriptor of the peer, because the next socket may get the same number.
bool SelectLoop::let_go(Peer& peer) {
  if (peer.armed == Peer::kUnwatched) return true;
  const int fd = peer.socket.get();
  for (SocketSet* set : {&reading_, &writing_, &unwanted_}) set->set(fd, false);
  peer_of_[static_cast<std::size_t>(fd)] = nullptr;
  return true;
}

// Makes room for a descriptor. Later copies of the sets then do not allocate.
void SelectLoop::reach(int fd) {
  const std::size_t count = static_cast<std::size_t>(fd) + 1;
  if (count <= peer_of_.size()) return;
  for (SocketSet* set : {&reading_, &writing_, &readable_, &writable_, &unwanted_}) set->reach(fd);
  ready_.reserve(count);
  peer_of_.resize(count);
}

}  // namespace

extern const Engine kSelect{
    .name = "select",
    .summary = "sets of all sockets, shown to the kernel at every wait, of any size",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .run = run_loops<SelectLoop>,
};

}  // namespace joust
