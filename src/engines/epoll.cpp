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

#include <cerrno>
#include <system_error>

#include "base/check.hpp"
#include "connection/tally.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {
namespace {

constexpr std::chrono::microseconds kBusyPoll(50);

}  // namespace

Fd Epoll::create() {
  return Fd(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1()"));
}

Epoll::Epoll(const Hosting& hosting)
    : edge_(!hosting.options.is("trigger", "level")), tally_(&hosting.tally) {
  if (hosting.options.is("busy-poll", "50us")) checked_number(poll_cards(kBusyPoll), "ioctl(EPIOCSPARAMS)");
}

// Level-triggered, a peer without an interest is watched edge-triggered, because its hang-up would be
// reported at every wait. Changing a watch allocates no kernel memory, so a shortage cannot keep the loop
// from accepting again: a listener that is not wanted stays watched, for nothing.
void Epoll::watch(int fd, Watched& what, unsigned events) {
  const bool once = (events & kOnce) != 0, edge = edge_ && what.kind == Watched::Kind::peer;
  unsigned bits = events & (EPOLLIN | EPOLLOUT);
  if ((bits & EPOLLIN) != 0 && (once || edge)) bits |= EPOLLRDHUP;
  bits |= once ? unsigned{EPOLLONESHOT} : edge || bits == 0 ? unsigned{EPOLLET} : 0U;
  epoll_event event{.events = bits, .data = {.ptr = &what}};
  const int operation = what.armed == Watched::kUnwatched ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  checked(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl({}, {})", operation, fd);
  what.armed = events;
}

// close() ends the watch only if no other process has a copy of the socket. A child has one until exec, and
// the kernel would go on to report what has been destroyed.
void Epoll::forget(int fd, Watched& /*what*/) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

// epoll_wait has a resolution of 1 ms; rounding up makes it wake up late, never early.
int Epoll::call(Duration most) {
  const int room = static_cast<int>(events_.size());
  const timespec timeout = to_timespec(most);
  if (has_pwait2_) {
    const int ready = ::epoll_pwait2(epoll_.get(), events_.data(), room, &timeout, nullptr);
    has_pwait2_ = ready >= 0 || (errno != ENOSYS && errno != EPERM);
    if (has_pwait2_) return ready;
    tally_->note("epoll_pwait2 is refused here (Linux 5.11 has it): deadlines are up to 1 ms late");
  }
  const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  return ::epoll_wait(epoll_.get(), events_.data(), room, static_cast<int>(most_ms));
}

// epoll_params of linux/eventpoll.h, and its EPIOCSPARAMS: glibc 2.36 has neither.
int Epoll::poll_cards(std::chrono::microseconds most) {
  struct Parameters {
    std::uint32_t busy_poll_us;
    std::uint16_t packets = 0;  // as many as the kernel thinks best
    std::uint8_t prefer_busy_poll = 0;
    std::uint8_t reserved = 0;
  } parameters{.busy_poll_us = static_cast<std::uint32_t>(most.count())};
  return ::ioctl(epoll_.get(), _IOW(0x8A, 0x01, Parameters), &parameters) < 0 ? errno : 0;
}

namespace {

constexpr std::array<std::string_view, 2> kTriggers{"edge", "level"};
constexpr std::array<std::string_view, 2> kBusyPolls{"off", "50us"};

std::string no_busy_poll(std::string_view choice) {
  if (choice == "off") return {};
  const int error = Epoll().poll_cards(kBusyPoll);
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
    .does_chores = true,
    .threads = "one per loop (-t)",
    .knobs = kKnobs,
    .run = run_loops<Polled<ReadyLoop, Epoll>>,
};

}  // namespace joust
