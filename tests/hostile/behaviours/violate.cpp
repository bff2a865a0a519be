// SPDX-License-Identifier: MIT
//
// What breaks the protocol: lengths beyond the limits, frames out of their place, garbage.
#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Violate : public Behaviour {
 public:
  explicit Violate(const Means& means) { sending_.put(means.messages.invalid()); }

  std::optional<Pause> step(Wire& wire) override {
    sending_.send(wire);
    return std::nullopt;
  }

 private:
  Sending sending_;
};

}  // namespace

std::unique_ptr<Behaviour> violate(const Means& means) {
  return std::make_unique<Violate>(means);
}

}  // namespace joust::hostile
