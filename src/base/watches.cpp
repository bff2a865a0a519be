// SPDX-License-Identifier: MIT
#include "base/watches.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/signals.hpp"

namespace joust {

Periodic::Periodic(Duration interval, std::function<void()> step)
    : interval_(interval), step_(std::move(step)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Periodic::~Periodic() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  thread_.join();
}

void Periodic::run() {
  std::unique_lock lock(mutex_);
  while (!over_changed_.wait_for(lock, interval_, [this] { return over_; })) step_();
}

// Signals are for the other threads.
PauseWatch::PauseWatch() {
  const SignalsBlocked blocked;
  try {
    thread_ = std::jthread([this](const std::stop_token& over) { watch(over); });
  } catch (const std::system_error&) {
    // The race itself comes first.
  }
}

// After a pause this thread may run before the one that looks.
Duration PauseWatch::take() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) look();
  return std::exchange(longest_, Duration{});
}

void PauseWatch::look() {
  const Time now = Clock::now();
  longest_ = std::max(longest_, now - looked_ - kBetweenLooks);
  looked_ = now;
}

void PauseWatch::watch(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (!over.stop_requested()) {
    ended_.wait_for(lock, over, kBetweenLooks, [] { return false; });
    look();
  }
}

}  // namespace joust
