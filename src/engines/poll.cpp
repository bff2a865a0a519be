// SPDX-License-Identifier: MIT
//
// poll: one thread passes all of its sockets to the kernel, which marks the ready ones.
//
//     ppoll --> for each ready socket:  recv --> session --> send
//       ^                                                     |
//       +---- deadlines <---- publications <---- the unfinished
//
// Good at: a few hundred connections, most of them busy. A change of a peer's interest is a write to the
// array and takes no system call. It works on every POSIX system, and for any descriptor number. Bad at:
// thousands of connections, few of them busy, because each wait copies the whole array and checks every
// socket. The array is dense: entry fixed_ + n belongs to peer n, and the last peer takes the place of one
// that leaves. A file's bytes may take a pipe or a ring buffer in place of recv (files/file_input.hpp). Left
// out on purpose: leaving busy peers out of the array for a turn, which saves little. recv and send are in
// loop/ready_io.cpp.
#include <poll.h>

#include <vector>

#include "base/system/ppoll.hpp"
#include "engines/loop/ready_loop.hpp"

namespace joust {
namespace {

class PollLoop : public ReadyLoop {
 public:
  PollLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : ReadyLoop(hosting, stop, group, index), fixed_(2 + listeners().size()), entries_(fixed_) {}
  void run();

 private:
  std::size_t wait();
  void dispatch(std::size_t ready_entries);
  void watch(Peer& peer) override;
  bool let_go(Peer& peer) override;
  pollfd& entry_of(const Peer& peer);
  const Peer* ready_peer(std::size_t i) const;

  const std::size_t fixed_;  // entries before those of the peers: the stop, the inbox, the listeners
  std::vector<pollfd> entries_;
};

void PollLoop::run() {
  while (!over()) {
    start_dials();
    dispatch(wait());
    finish_turn();
  }
}

// ppoll ignores entries with a negative descriptor.
std::size_t PollLoop::wait() {
  entries_[0] = {.fd = awaits_stop() ? stop().fd() : -1, .events = POLLIN, .revents = 0};
  entries_[1] = {.fd = inbox().waker().fd(), .events = POLLIN, .revents = 0};
  for (std::size_t i = 2; i < fixed_; ++i)
    entries_[i] = {.fd = accepts() ? listeners()[i - 2]->fd() : -1, .events = POLLIN, .revents = 0};
  const timespec timeout = to_timespec(next_wait());
  return woken(::ppoll(entries_.data(), entries_.size(), &timeout, nullptr), "ppoll()");
}

// Peers first: this result does not cover peers accepted or dealt meanwhile, and no peer leaves before
// sweep().
void PollLoop::dispatch(std::size_t ready_entries) {
  std::size_t left = ready_entries;
  for (std::size_t i = entries_.size(); i-- > 0 && left > 0;) {
    if (entries_[i].revents == 0) continue;
    --left;
    fetch_ahead(ready_peer(i - 1), ready_peer(i - 2));
    if (i >= fixed_)
      ready(*peers()[i - fixed_], static_cast<unsigned short>(entries_[i].revents));
    else if (i >= 2)
      ready_listener(*listeners()[i - 2]);
    else if (i == 1)
      admit_dealt();
    else
      request_stop();
  }
}

// Returns null for other entries, and for peers that are not ready.
const ReadyPeer* PollLoop::ready_peer(std::size_t i) const {
  const bool ready = i >= fixed_ && i < entries_.size() && entries_[i].revents != 0;
  return ready ? peers()[i - fixed_].get() : nullptr;
}

// ppoll always reports a hang-up. After the first report the entry is disabled while the peer has no
// interest.
void PollLoop::watch(Peer& peer) {
  const unsigned events = interest(peer);
  const bool silent = events == 0 && peer.end_is_near;
  entry_of(peer) = {
      .fd = silent ? -1 : peer.socket.get(), .events = static_cast<short>(events), .revents = 0};
}

// The last peer is about to take this one's place.
bool PollLoop::let_go(Peer& peer) {
  entry_of(peer) = entry_of(*peers().back());
  entries_.resize(fixed_ + peers().size() - 1);
  return true;
}

pollfd& PollLoop::entry_of(const Peer& peer) {
  const std::size_t place = fixed_ + peer.index;
  if (place >= entries_.size()) entries_.resize(place + 1, {.fd = -1, .events = 0, .revents = 0});
  return entries_[place];
}

}  // namespace

extern const Engine kPoll{
    .name = "poll",
    .summary = "one array of all sockets, shown to the kernel at every wait",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .run = run_loops<PollLoop>,
};

}  // namespace joust
