// SPDX-License-Identifier: MIT
//
// Calls that wait for events, and what they wait on. A wait that is cut short by a signal returns nothing.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>

#include <cerrno>

#include "faults/seam.hpp"

namespace joust::faults {
namespace {

Call epoll_create_call{"epoll_create1", {EMFILE, ENFILE, ENOMEM}};
// Of EPOLL_CTL_ADD: to change or to end a watch, the kernel needs no memory.
Call epoll_ctl_call{"epoll_ctl", {ENOMEM, ENOSPC}};
Call epoll_pwait2_call{"epoll_pwait2", {EINTR, ENOSYS, EPERM}};
Call epoll_wait_call{"epoll_wait", {EINTR}};
Call poll_call{"poll", {EINTR, ENOMEM, EAGAIN}};
Call ppoll_call{"ppoll", {EINTR, ENOMEM, EAGAIN}};
Call select_call{"select", {EINTR, ENOMEM}};
Call pselect_call{"pselect", {EINTR, ENOMEM}};
Call kqueue_call{"kqueue", {EMFILE, ENFILE, ENOMEM}};
Call kevent_call{"kevent", {EINTR, ENOMEM}};
Call eventfd_call{"eventfd", {EMFILE, ENFILE, ENODEV, ENOMEM}};

}  // namespace
}  // namespace joust::faults

using namespace joust::faults;

extern "C" {

int __real_epoll_create1(int);
int __wrap_epoll_create1(int flags) {
  return call_or_fail(epoll_create_call, __real_epoll_create1, flags);
}

int __real_epoll_ctl(int, int, int, epoll_event*);
int __wrap_epoll_ctl(int epoll, int operation, int fd, epoll_event* event) {
  if (operation != EPOLL_CTL_ADD) return __real_epoll_ctl(epoll, operation, fd, event);
  return call_or_fail(epoll_ctl_call, __real_epoll_ctl, epoll, operation, fd, event);
}

int __real_epoll_pwait2(int, epoll_event*, int, const timespec*, const sigset_t*);
int __wrap_epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* time,
                        const sigset_t* mask) {
  return call_or_fail(epoll_pwait2_call, __real_epoll_pwait2, epoll, events, most, time, mask);
}

int __real_epoll_wait(int, epoll_event*, int, int);
int __wrap_epoll_wait(int epoll, epoll_event* events, int most, int time_ms) {
  return call_or_fail(epoll_wait_call, __real_epoll_wait, epoll, events, most, time_ms);
}

int __real_poll(pollfd*, nfds_t, int);
int __wrap_poll(pollfd* entries, nfds_t count, int time_ms) {
  return call_or_fail(poll_call, __real_poll, entries, count, time_ms);
}

int __real_ppoll(pollfd*, nfds_t, const timespec*, const sigset_t*);
int __wrap_ppoll(pollfd* entries, nfds_t count, const timespec* time, const sigset_t* mask) {
  return call_or_fail(ppoll_call, __real_ppoll, entries, count, time, mask);
}

int __real_select(int, fd_set*, fd_set*, fd_set*, timeval*);
int __wrap_select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* time) {
  return call_or_fail(select_call, __real_select, count, read, write, except, time);
}

int __real_pselect(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*);
int __wrap_pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* time,
                   const sigset_t* mask) {
  return call_or_fail(pselect_call, __real_pselect, count, read, write, except, time, mask);
}

#ifdef JOUST_HAVE_KQUEUE
int __real_kqueue();
int __wrap_kqueue() {
  return call_or_fail(kqueue_call, __real_kqueue);
}

// Calls that only hand over changes pass.
int __real_kevent(int, const void*, int, void*, int, const timespec*);
int __wrap_kevent(int queue, const void* changes, int change_count, void* events, int most,
                  const timespec* time) {
  if (most == 0) return __real_kevent(queue, changes, change_count, events, most, time);
  return call_or_fail(kevent_call, __real_kevent, queue, changes, change_count, events, most, time);
}
#endif

int __real_eventfd(unsigned, int);
int __wrap_eventfd(unsigned value, int flags) {
  return call_or_fail(eventfd_call, __real_eventfd, value, flags);
}
}
