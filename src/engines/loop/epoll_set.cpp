// SPDX-License-Identifier: MIT
#include "engines/loop/epoll_set.hpp"

#include <cerrno>

#include "base/check.hpp"
#include "engines/loop/patience.hpp"

namespace joust {

EpollSet::EpollSet() : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1()")) {}

void EpollSet::control(int operation, int fd, std::uint32_t events, void* tag) {
  epoll_event event{.events = events, .data = {.ptr = tag}};
  checked(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl({}, {})", operation, fd);
}

void EpollSet::remove(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
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

}  // namespace joust
