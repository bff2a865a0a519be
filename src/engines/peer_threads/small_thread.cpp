// SPDX-License-Identifier: MIT
#include "engines/peer_threads/small_thread.hpp"

#include <csignal>
#include <memory>
#include <utility>

#include "base/check.hpp"

namespace joust {
namespace {

// The size of a stack. Only touched pages take memory, so this limits the depth of calls rather than the
// memory. The sanitizers' frames are several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackBytes = 2 << 20;
#else
constexpr std::size_t kStackBytes = 256 << 10;
#endif

// The signal that interrupts a thread. The program has no other use for it, and it is ignored where no
// handler is set. The handler does nothing: without SA_RESTART it ends the interrupted system call.
constexpr int kInterrupt = SIGURG;

void install_handler() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  checked(::sigaction(kInterrupt, &action, nullptr), "sigaction(SIGURG)");
}

void* run_body(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  sigset_t interrupt;  // programs that wait for signals block them all, and threads inherit the mask
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
  argument.release();  // the thread owns it now
  thread_ = thread;
}

void SmallThread::interrupt() {
  if (thread_) ::pthread_kill(*thread_, kInterrupt);
}

void SmallThread::join() {
  if (thread_) ::pthread_join(*std::exchange(thread_, std::nullopt), nullptr);
}

}  // namespace joust
