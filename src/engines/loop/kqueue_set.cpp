// SPDX-License-Identifier: MIT
#include "engines/loop/kqueue_set.hpp"

#ifdef JOUST_HAVE_KQUEUE

#include <poll.h>

#include <cerrno>
#include <system_error>

#include "base/check.hpp"
#include "engines/loop/ready_exchange.hpp"

namespace joust {

KqueueSet::KqueueSet() : queue_(checked(::kqueue(), "kqueue()")) {}

KqueueSet::Event KqueueSet::change(int fd, int filter, unsigned flags, void* tag) {
  Event change;
  EV_SET(&change, static_cast<unsigned>(fd), static_cast<short>(filter), static_cast<unsigned short>(flags),
         0, 0, tag);
  return change;
}

void KqueueSet::make(std::span<const Event> changes) {
  const int count = static_cast<int>(changes.size());
  checked(::kevent(queue_.get(), changes.data(), count, nullptr, 0, nullptr), "kevent(EV_ADD)");
}

void KqueueSet::forget(int fd, int filter) {
  const Event end = change(fd, filter, EV_DELETE, nullptr);
  ::kevent(queue_.get(), &end, 1, nullptr, 0, nullptr);
}

void KqueueSet::before_close([[maybe_unused]] int socket) {
#ifdef __linux__
  forget(socket, EVFILT_READ);
  forget(socket, EVFILT_WRITE);
#endif
}

int KqueueSet::wait(std::span<const Event> changes, Duration most) {
  const timespec timeout = to_timespec(most);
  return ::kevent(queue_.get(), changes.data(), static_cast<int>(changes.size()), events_.data(),
                  static_cast<int>(events_.size()), &timeout);
}

unsigned KqueueSet::events_of(const Event& event) {
  const bool reads = event.filter == EVFILT_READ;
  const bool ends = (event.flags & EV_EOF) != 0;
  return (reads ? POLLIN : POLLOUT) | (reads && ends ? kReadHangUp : 0U) |
         (error_of(event) != 0 ? POLLERR : 0U);
}

int KqueueSet::error_of(const Event& event) {
  return (event.flags & EV_EOF) != 0 ? static_cast<int>(event.fflags) : 0;
}

// Opens a kqueue of the process's own. So the objects that libkqueue keeps for the process (a thread and
// descriptors) exist before the first run, and stay.
std::string kqueue_unavailable() {
  static const Fd first(::kqueue());
  static const int error = first.is_open() ? 0 : errno;
  return error == 0 ? "" : "kqueue() fails: " + std::generic_category().message(error);
}

}  // namespace joust

#else

std::string joust::kqueue_unavailable() {
  return "kqueue is the interface of macOS and BSD; libkqueue was not found when this was built";
}

#endif
