// SPDX-License-Identifier: MIT
#include "conformance/gate.hpp"

#include <stdexcept>

#include "conformance/peer.hpp"

namespace joust::conformance {

void Gate::hold() {
  held_.release();
  static_cast<void>(let_go_.try_acquire_for(kPatience));
}

void Gate::await_held() {
  if (!held_.try_acquire_for(kPatience)) throw std::runtime_error("no thread of the engine is held");
}

void Gate::let_go() {
  let_go_.release();
}

}  // namespace joust::conformance
