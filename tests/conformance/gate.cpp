// SPDX-License-Identifier: MIT
#include "conformance/gate.hpp"

#include <stdexcept>
#include <thread>

#include "conformance/peer.hpp"

namespace joust::conformance {
namespace {

// Takes one, waiting for it; false after kPatience.
bool take(std::atomic<unsigned>& count) {
  const Time give_up = Clock::now() + kPatience;
  while (Clock::now() < give_up) {
    unsigned there = count.load();
    if (there > 0 && count.compare_exchange_strong(there, there - 1)) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

}  // namespace

void Gate::hold() {
  ++counts_->held;
  static_cast<void>(take(counts_->let_go));
}

void Gate::await_held() {
  if (!take(counts_->held)) throw std::runtime_error("no thread of the engine is held");
}

void Gate::let_go() {
  ++counts_->let_go;
}

}  // namespace joust::conformance
