// SPDX-License-Identifier: MIT
#include "hostile/watchdog.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "conformance/peer.hpp"

namespace joust::hostile {
namespace {

// Longer than kPatience, after which most of what hangs is reported in more words.
Duration longest_phase() {
  return 2 * conformance::kPatience;
}

}  // namespace

Watchdog::Watchdog(std::string run)
    : run_(std::move(run)), until_(Clock::now() + longest_phase()), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::phase(std::string name) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(name);
  until_ = Clock::now() + longest_phase();
  changed_.notify_one();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (changed_.wait_until(lock, until_) != std::cv_status::timeout || Clock::now() < until_) continue;
    std::fprintf(stderr, "HANGS in phase '%s': %s\n", phase_.c_str(), run_.c_str());
    std::abort();
  }
}

}  // namespace joust::hostile
