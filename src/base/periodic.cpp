// SPDX-License-Identifier: MIT
#include "base/periodic.hpp"

#include <utility>

#include "base/signals_blocked.hpp"

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

}  // namespace joust
