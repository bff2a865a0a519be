// SPDX-License-Identifier: MIT
#include "failing_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <thread>

namespace joust::test {
namespace {

struct Rule {
  std::atomic<int> error{0};  // 0: the call works
  std::atomic<std::uint64_t> passed{0}, times{0}, calls{0};
};
std::array<Rule, kCalls> rules;
std::atomic<int> fsync_takes_ms{0};
std::atomic<int> slow_disks{0};

Rule& rule_of(Call call) {
  return rules[static_cast<std::size_t>(call)];
}

// 0, or the error with which this call is to fail.
int refusal(Call call) {
  Rule& rule = rule_of(call);
  const int error = rule.error.load();
  if (error == 0) return 0;
  const std::uint64_t number = rule.calls.fetch_add(1);
  if (error == kKilled && number == rule.passed) ::raise(SIGKILL);
  return number >= rule.passed && number - rule.passed < rule.times ? error : 0;
}

template <typename Function, typename... Arguments>
int pass_on(Call call, const char* name, Arguments... arguments) {
  static const auto real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  if (const int error = refusal(call); error != 0) {
    errno = error;
    return -1;
  }
  return real(arguments...);
}

}  // namespace

Failing::Failing(Call call, int error, std::uint64_t times, std::uint64_t passed) : call_(call) {
  Rule& rule = rule_of(call);
  rule.calls = 0;
  rule.passed = passed;
  rule.times = times;
  rule.error = error;
}

Failing::~Failing() {
  rule_of(call_).error = 0;
}

SlowDisk::SlowDisk(std::chrono::milliseconds longer) {
  ++slow_disks;
  fsync_takes_ms = static_cast<int>(longer.count());
}

SlowDisk::~SlowDisk() {
  fsync_takes_ms = 0;
  --slow_disks;
}

std::uint64_t Failing::failed() const {
  const Rule& rule = rule_of(call_);
  const std::uint64_t calls = rule.calls;
  return calls <= rule.passed ? 0 : std::min<std::uint64_t>(calls - rule.passed, rule.times);
}

}  // namespace joust::test

using joust::test::Call;

extern "C" {

int bind(int socket, const sockaddr* address, socklen_t size) {
  return joust::test::pass_on<decltype(bind)>(Call::bind, "bind", socket, address, size);
}
int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  return joust::test::pass_on<decltype(accept4)>(Call::accept4, "accept4", socket, address, size, flags);
}

pid_t fork() {
  return joust::test::pass_on<decltype(fork)>(Call::fork, "fork");
}

int ppoll(pollfd* sockets, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return joust::test::pass_on<decltype(ppoll)>(Call::ppoll, "ppoll", sockets, count, timeout, mask);
}

int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  return joust::test::pass_on<decltype(select)>(Call::select, "select", count, read, write, except, timeout);
}

int kevent(int queue, const void* changes, int change_count, void* events, int most,
           const timespec* timeout) {
  using Wait = int(int, const void*, int, void*, int, const timespec*);
  static const auto real = reinterpret_cast<Wait*>(::dlsym(RTLD_NEXT, "kevent"));
  if (most == 0) return real(queue, changes, change_count, events, most, timeout);
  return joust::test::pass_on<Wait>(Call::kevent, "kevent", queue, changes, change_count, events, most,
                                    timeout);
}

// It returns the error instead of setting errno.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  if (const int error = joust::test::refusal(Call::pthread_create); error != 0) return error;
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create*>(::dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, body, argument);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  return joust::test::pass_on<decltype(epoll_wait)>(Call::epoll_wait, "epoll_wait", epoll, events, most,
                                                    timeout_ms);
}

int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* timeout, const sigset_t* mask) {
  return joust::test::pass_on<decltype(epoll_pwait2)>(Call::epoll_pwait2, "epoll_pwait2", epoll, events, most,
                                                      timeout, mask);
}

ssize_t sendto(int socket, const void* bytes, std::size_t size, int flags, const sockaddr* to,
               socklen_t to_size) {
  using Send = ssize_t(int, const void*, std::size_t, int, const sockaddr*, socklen_t);
  static const auto real = reinterpret_cast<Send*>(::dlsym(RTLD_NEXT, "sendto"));
  if (const int error = joust::test::refusal(Call::sendto); error != 0) {
    errno = error;
    return -1;
  }
  return real(socket, bytes, size, flags, to, to_size);
}

ssize_t recvfrom(int socket, void* bytes, std::size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  using Receive = ssize_t(int, void*, std::size_t, int, sockaddr*, socklen_t*);
  static const auto real = reinterpret_cast<Receive*>(::dlsym(RTLD_NEXT, "recvfrom"));
  if (const int error = joust::test::refusal(Call::recvfrom); error != 0) {
    errno = error;
    return -1;
  }
  return real(socket, bytes, size, flags, from, from_size);
}

int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  const bool segments = count > 0 && messages->msg_hdr.msg_controllen > 0;
  if (const int error = segments ? joust::test::refusal(Call::segments) : 0; error != 0) {
    errno = error;
    return -1;
  }
  return joust::test::pass_on<decltype(sendmmsg)>(Call::sendmmsg, "sendmmsg", socket, messages, count, flags);
}

int recvmmsg(int socket, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  return joust::test::pass_on<decltype(recvmmsg)>(Call::recvmmsg, "recvmmsg", socket, messages, count, flags,
                                                  timeout);
}

int fsync(int fd) {
  constexpr int kStep = 10;
  for (int left_ms = joust::test::fsync_takes_ms.exchange(0); left_ms > 0 && joust::test::slow_disks > 0;
       left_ms -= kStep)
    std::this_thread::sleep_for(std::chrono::milliseconds(kStep));
  return joust::test::pass_on<int(int)>(Call::fsync, "fsync", fd);
}

int flock(int fd, int operation) noexcept {
  return joust::test::pass_on<int(int, int)>(Call::flock, "flock", fd, operation);
}

int linkat(int from, const char* old_name, int to, const char* new_name, int flags) noexcept {
  return joust::test::pass_on<decltype(linkat)>(Call::linkat, "linkat", from, old_name, to, new_name, flags);
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  return joust::test::pass_on<decltype(unlinkat)>(Call::unlinkat, "unlinkat", folder, name, flags);
}

int fchmod(int fd, mode_t mode) noexcept {
  return joust::test::pass_on<decltype(fchmod)>(Call::fchmod, "fchmod", fd, mode);
}

#ifdef __linux__
int renameat2(int from, const char* old_name, int to, const char* new_name, unsigned flags) noexcept {
  return joust::test::pass_on<decltype(renameat2)>(Call::renameat2, "renameat2", from, old_name, to, new_name,
                                                   flags);
}

int syncfs(int fd) noexcept {
  return joust::test::pass_on<int(int)>(Call::syncfs, "syncfs", fd);
}

int openat(int folder, const char* name, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);
  va_end(arguments);
  using Open = int(int, const char*, int, ...);
  static const auto real = reinterpret_cast<Open*>(::dlsym(RTLD_NEXT, "openat"));
  const bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
  if (const int error = is_nameless ? joust::test::refusal(Call::nameless) : 0; error != 0) {
    errno = error;
    return -1;
  }
  return real(folder, name, flags, mode);
}
#endif

ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  using Write = ssize_t(int, const void*, std::size_t, off_t);
  static const auto real = reinterpret_cast<Write*>(::dlsym(RTLD_NEXT, "pwrite"));
  if (const int error = joust::test::refusal(Call::pwrite); error != 0) {
    errno = error;
    return -1;
  }
  return real(fd, bytes, size, offset);
}

int pipe2(int* ends, int flags) noexcept {
  return joust::test::pass_on<int(int*, int)>(Call::pipe2, "pipe2", ends, flags);
}

int fcntl(int descriptor, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  static const auto real = reinterpret_cast<int (*)(int, int, ...)>(::dlsym(RTLD_NEXT, "fcntl"));
  const int error = command == F_SETPIPE_SZ ? joust::test::refusal(Call::widen_pipe) : 0;
  if (error == 0) return real(descriptor, command, argument);
  real(descriptor, command, 8192);
  errno = error;
  return -1;
}

}  // extern "C"
