// SPDX-License-Identifier: MIT
#include "base/small_thread.hpp"

#include <csignal>
#include <memory>
#include <utility>

#include "base/check.hpp"

namespace joust {
namespace {

// Only what is touched takes memory, so this bounds the depth of calls rather than the memory. The
// sanitizers' frames are several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackBytes = 2 << 20;
#else
constexpr std::size_t kStackBytes = 256 << 10;
#endif

// A signal nobody else needs, which is ignored where no handler has been set. The handler does nothing: what
// matters is that, without SA_RESTART, it ends the system call it interrupts.
constexpr int kInterrupt = SIGURG;

void install_handler() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  checked(::sigaction(kInterrupt, &action, nullptr), "sigaction(SIGURG)");
}

void* run_body(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  sigset_t interrupt;  // programs that wait for their signals block them all, and threads inherit that
  sigemptyset(&interrupt);
  sigaddset(&interrupt, kInterrupt);
  ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  (*body)();
  return nullptr;
}

}  // namespace

void SmallThread::start(std::function<void()> body) {
  [[maybe_unused]] static const bool installed = (install_handler(), true);
  pthread_attr_t attributes;
  checked_number(::pthread_attr_init(&attributes), "pthread_attr_init()");
  const auto destroy = [](pthread_attr_t* made) { ::pthread_attr_destroy(made); };
  const std::unique_ptr<pthread_attr_t, decltype(destroy)> owner(&attributes, destroy);
  checked_number(::pthread_attr_setstacksize(&attributes, kStackBytes), "pthread_attr_setstacksize({})",
                 kStackBytes);
  auto argument = std::make_unique<std::function<void()>>(std::move(body));
  pthread_t thread{};
  checked_number(::pthread_create(&thread, &attributes, run_body, argument.get()), "pthread_create()");
  argument.release();  // the thread's now
  thread_ = thread;
}

void SmallThread::interrupt() {
  if (thread_) ::pthread_kill(*thread_, kInterrupt);
}

void SmallThread::join() {
  if (thread_) ::pthread_join(*std::exchange(thread_, std::nullopt), nullptr);
}

}  // namespace joust
