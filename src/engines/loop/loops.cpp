// SPDX-License-Identifier: MIT
#include "engines/loop/loops.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <latch>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals.hpp"
#include "connection/tally.hpp"

namespace joust {
namespace {

// Adds the number of the loop whose thread could not be started to the error, as far as memory permits.
std::exception_ptr named(const std::exception_ptr& error, std::size_t loop, std::size_t loops) noexcept {
  try {
    try {
      std::rethrow_exception(error);
    } catch (const std::system_error& failure) {
      const std::string thread = fmt::format("starting loop {} of {}", loop, loops);
      return std::make_exception_ptr(std::system_error(failure.code(), thread));
    }
  } catch (...) {
    return error;
  }
}

}  // namespace

void Inbox::put(Fd socket) {
  {
    const std::lock_guard lock(mutex_);
    sockets_.push_back(std::move(socket));
  }
  waker_.wake();
}

std::vector<Fd> Inbox::take() {
  waker_.clear();
  const std::lock_guard lock(mutex_);
  return std::exchange(sockets_, {});
}

void LoopGroup::end_dealing() {
  dealing_ended_.store(true, std::memory_order_release);
  for (Inbox& inbox : inboxes_) inbox.waker().wake();
}

int LoopGroup::keep(Fd socket) {
  const std::lock_guard lock(mutex_);
  return kept_.emplace_back(std::move(socket)).get();
}

void LoopGroup::closed(const Hosting& hosting, std::size_t loop) {
  const std::size_t before = open.fetch_sub(1);
  if (loop != 0 && hosting.room(before) == 0) inbox(0).waker().wake();
}

void pause_for_shortage() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void wait_failed(const Hosting& hosting, const char* call) {
  const int error = errno;
  if (error == EINTR) return;
  if (error != ENOMEM && error != EAGAIN) throw std::system_error(error, std::generic_category(), call);
  hosting.tally.note("waits failed for want of kernel memory");
  pause_for_shortage();
}

void run_loops(std::size_t loops, Stop& stop,
               const std::function<void(std::size_t index, const Begin& begin)>& loop,
               const std::function<void()>& ready) {
  std::latch begun(static_cast<std::ptrdiff_t>(loops));
  std::mutex mutex;
  std::exception_ptr first;
  const auto end_all = [&](std::exception_ptr error) {
    const std::lock_guard lock(mutex);
    if (!first) first = std::move(error);
    stop.request();
    stop.request();
  };
  const auto has_failed = [&] {
    const std::lock_guard lock(mutex);
    return first != nullptr;
  };
  const auto guarded = [&](std::size_t index) {
    const SigpipeBlock block;  // for send_file()
    bool has_begun = false;
    try {
      loop(index, [&] {
        has_begun = true;
        begun.arrive_and_wait();
        if (index == 0 && ready && !has_failed()) ready();
      });
    } catch (...) {
      end_all(std::current_exception());
    }
    if (!has_begun) begun.count_down();
  };
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < loops) others.emplace_back(guarded, others.size() + 1);
    } catch (...) {
      end_all(named(std::current_exception(), others.size() + 2, loops));
      begun.count_down(static_cast<std::ptrdiff_t>(loops - 1 - others.size()));
    }
    guarded(0);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace joust
