// SPDX-License-Identifier: MIT
//
// epoll: one thread asks the kernel which of thousands of sockets are ready, and serves those.
//
//     epoll_pwait2 --> for each ready socket:  recv --> session --> send
//          ^                                                         |
//          +---- deadlines <---- publications <---- the unfinished --+
//
// Good at: many connections, few of them busy; large transfers. The cost of a wait depends on the number of
// ready sockets, not of open ones. Bad at: one busy connection (three system calls for a message); nothing
// overlaps with the system calls. Edge-triggered (the default), the kernel reports each change to ready once,
// so the loop keeps the ready flag until recv or send returns EAGAIN or comes up short. Level-triggered, the
// kernel repeats the report, so the loop watches only events it can use, and each change of these costs an
// epoll_ctl. Left out on purpose: EPOLLONESHOT and EPOLLEXCLUSIVE, because a socket stays with one loop.
// The calls of epoll are in loop/epoll_set.cpp; recv and send, in loop/ready_io.cpp, serve poll and select
// too.
#include <sys/epoll.h>

#include <algorithm>
#include <array>

#include "engines/loop/epoll_set.hpp"
#include "engines/loop/ready_loop.hpp"

namespace joust {
namespace {

class EpollLoop : public ReadyLoop {
 public:
  EpollLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  std::span<const epoll_event> wait();
  void dispatch(const epoll_event& event);
  const Peer* peer_of(std::span<const epoll_event> events, std::size_t i);
  void watch(Peer& peer) override;
  bool let_go(Peer& peer) override { return epoll_.let_go(peer); }

  const bool edge_;
  EpollSet epoll_;
};

EpollLoop::EpollLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : ReadyLoop(hosting, stop, group, index), edge_(!hosting.options.is("trigger", "level")) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  epoll_.add(listeners());
}

void EpollLoop::run() {
  while (!over()) {
    start_dials();
    epoll_.watch(listeners(), accepts());
    const std::span<const epoll_event> events = wait();
    for (std::size_t i = 0; i < events.size(); ++i) {
      fetch_ahead(peer_of(events, i + 1), peer_of(events, i + 2));
      dispatch(events[i]);
    }
    finish_turn();
  }
}

std::span<const epoll_event> EpollLoop::wait() {
  return epoll_.first(woken(epoll_.wait(next_wait(), hosting().tally), "epoll_pwait2()"));
}

// Returns null if no such event exists, or if the event is not a peer's.
const ReadyPeer* EpollLoop::peer_of(std::span<const epoll_event> events, std::size_t i) {
  const void* const tag = i < events.size() ? events[i].data.ptr : nullptr;
  const auto same = [tag](const Listener* listener) { return tag == listener; };
  if (tag == &stop() || tag == &inbox() || std::ranges::any_of(listeners(), same)) return nullptr;
  return static_cast<const Peer*>(tag);
}

void EpollLoop::dispatch(const epoll_event& event) {
  void* const tag = event.data.ptr;
  if (tag == &stop()) {
    // The stop's descriptor stays readable, and would wake the loop at once.
    epoll_.control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);
    // Removed explicitly, not by close(): see EpollSet::let_go().
    epoll_.remove(listeners());
    return request_stop();
  }
  if (tag == &inbox()) return admit_dealt();
  for (const Listener* listener : listeners())
    if (tag == listener) return ready_listener(*listener);
  ready(*static_cast<Peer*>(tag), event.events);
}

// Changes the watched events of a peer if necessary. Edge-triggered, input is always watched, so the session
// need not be asked. Level-triggered, a peer without an interest is watched edge-triggered, because its
// hang-up would be reported at every wait.
void EpollLoop::watch(Peer& peer) {
  const unsigned output = peer.writable ? 0U : unsigned{EPOLLOUT};
  unsigned events = edge_ && peer.connection ? EPOLLIN | EPOLLRDHUP | output : interest(peer);
  if (edge_ || events == 0) events |= EPOLLET;
  epoll_.watch(peer.socket.get(), peer, events);
}

constexpr std::array<std::string_view, 2> kTriggers{"edge", "level"};
constexpr std::array kKnobs{
    Knob{"trigger", kTriggers, "when the kernel reports a ready socket: once, or repeatedly"}};

}  // namespace

extern const Engine kEpoll{
    .name = "epoll",
    .summary = "readiness events for many sockets on one thread, edge- or level-triggered",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .knobs = kKnobs,
    .run = run_loops<EpollLoop>,
};

}  // namespace joust
