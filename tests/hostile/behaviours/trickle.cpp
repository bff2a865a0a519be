// SPDX-License-Identifier: MIT
//
// A peer that sends a message one byte at a time: each byte is an event of its own, and frames are cut at
// every place.
#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Trickle : public Behaviour {
 public:
  explicit Trickle(const Means& means) : pause_(means.chance.time(std::chrono::milliseconds(1))) {
    sending_.put(means.messages.small());
  }

  std::optional<Pause> step(Wire& wire) override {
    sending_.send(wire, 1);
    if (sending_.all_gone() || ++steps_ >= kMost) return std::nullopt;
    return Pause{0, pause_};
  }

 private:
  static constexpr int kMost = 60;

  Duration pause_;
  Sending sending_;
  int steps_ = 0;
};

}  // namespace

std::unique_ptr<Behaviour> trickle(const Means& means) {
  return std::make_unique<Trickle>(means);
}

}  // namespace joust::hostile
