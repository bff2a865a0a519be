// SPDX-License-Identifier: MIT
#include "failing_calls.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace joust::test {
namespace {

struct Rule {
  std::atomic<int> error{0};  // 0: the call works
  std::atomic<std::uint64_t> passed{0}, times{0}, calls{0};
};
std::array<Rule, kCalls> rules;

Rule& rule_of(Call call) {
  return rules[static_cast<std::size_t>(call)];
}

// 0, or the error with which this call is to fail.
int refusal(Call call) {
  Rule& rule = rule_of(call);
  const int error = rule.error.load();
  if (error == 0) return 0;
  const std::uint64_t number = rule.calls.fetch_add(1);
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

std::uint64_t Failing::failed() const {
  const Rule& rule = rule_of(call_);
  const std::uint64_t calls = rule.calls;
  return calls <= rule.passed ? 0 : std::min<std::uint64_t>(calls - rule.passed, rule.times);
}

}  // namespace joust::test

using joust::test::Call;

extern "C" {

int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  return joust::test::pass_on<decltype(accept4)>(Call::accept4, "accept4", socket, address, size, flags);
}

int ppoll(pollfd* sockets, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return joust::test::pass_on<decltype(ppoll)>(Call::ppoll, "ppoll", sockets, count, timeout, mask);
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
  return joust::test::pass_on<decltype(epoll_pwait2)>(Call::epoll_pwait2, "epoll_pwait2", epoll, events,
                                                      most, timeout, mask);
}

}  // extern "C"
