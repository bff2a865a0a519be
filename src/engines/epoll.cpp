// SPDX-License-Identifier: MIT
// Needs Linux: epoll is the interface of Linux; kqueue is its counterpart here
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
// recv and send, in loop/ready_io.cpp, serve poll and select too.
#include "engines/epoll.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/check.hpp"
#include "engines/loop/ready_loop.hpp"
#include "engines/loop/wait_strategy.hpp"

namespace joust {

EpollSet::EpollSet() : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1()")) {}

void EpollSet::control(int operation, int fd, std::uint32_t events, void* tag) {
  epoll_event event{.events = events, .data = {.ptr = tag}};
  checked(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl({}, {})", operation, fd);
}

void EpollSet::remove(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

// epoll_params of linux/eventpoll.h, and its EPIOCSPARAMS: glibc 2.36 has neither.
int EpollSet::poll_cards(std::chrono::microseconds most) {
  struct Parameters {
    std::uint32_t busy_poll_us;
    std::uint16_t packets = 0;  // as many as the kernel thinks best
    std::uint8_t prefer_busy_poll = 0;
    std::uint8_t reserved = 0;
  } parameters{.busy_poll_us = static_cast<std::uint32_t>(most.count())};
  return ::ioctl(epoll_.get(), _IOW(0x8A, 0x01, Parameters), &parameters) < 0 ? errno : 0;
}

void EpollSet::add(std::span<Listener* const> listeners) {
  for (Listener* const listener : listeners) control(EPOLL_CTL_ADD, listener->fd(), 0, listener);
}

void EpollSet::watch(std::span<Listener* const> listeners, bool accepts) {
  if (listeners.empty() || accepting_ == accepts) return;
  for (Listener* const listener : listeners)
    control(EPOLL_CTL_MOD, listener->fd(), accepts ? EPOLLIN : 0U, listener);
  accepting_ = accepts;
}

void EpollSet::remove(std::span<Listener* const> listeners) {
  for (Listener* const listener : listeners) control(EPOLL_CTL_DEL, listener->fd(), 0, nullptr);
  accepting_ = false;
}

// epoll_wait has a resolution of 1 ms; rounding up makes it wake up late, never early.
int EpollSet::wait(Duration most, Tally& tally) {
  const int room = static_cast<int>(events_.size());
  const timespec timeout = to_timespec(most);
  if (has_pwait2_) {
    const int ready = ::epoll_pwait2(epoll_.get(), events_.data(), room, &timeout, nullptr);
    has_pwait2_ = ready >= 0 || (errno != ENOSYS && errno != EPERM);
    if (has_pwait2_) return ready;
    tally.note("epoll_pwait2 is refused here (Linux 5.11 has it): deadlines are up to 1 ms late");
  }
  const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  return ::epoll_wait(epoll_.get(), events_.data(), room, static_cast<int>(most_ms));
}

namespace {

constexpr std::chrono::microseconds kBusyPoll(50);

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
  if (hosting.options.is("busy-poll", "50us"))
    checked_number(epoll_.poll_cards(kBusyPoll), "ioctl(EPIOCSPARAMS)");
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
constexpr std::array<std::string_view, 2> kBusyPolls{"off", "50us"};

std::string no_busy_poll(std::string_view choice) {
  if (choice == "off") return {};
  const int error = EpollSet().poll_cards(kBusyPoll);
  if (error == 0) return {};
  return "the kernel refuses EPIOCSPARAMS (Linux 6.9 has it): " + std::generic_category().message(error);
}

constexpr std::array kKnobs{
    Knob{"trigger", kTriggers, "when the kernel reports a ready socket: once, or repeatedly"},
    Knob{"busy-poll",
         kBusyPolls,
         "a wait polls the network card for so long before it sleeps; loopback has no card",
         {},
         no_busy_poll}};

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
