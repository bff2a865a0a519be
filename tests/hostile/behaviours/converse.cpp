// SPDX-License-Identifier: MIT
//
// A peer that does nothing wrong: a message, and reads what comes back for a while. Without such peers many
// states of a server would never be reached.
#include <poll.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Converse : public Behaviour {
 public:
  explicit Converse(const Means& means) : pause_(means.chance.time(means.appetite.pause)) {
    sending_.put(means.messages.valid());
  }

  std::optional<Pause> step(Wire& wire) override {
    sending_.send(wire);
    const bool heard = !wire.receive(kRead).empty();
    if (++steps_ >= kMost || wire.ended()) return std::nullopt;
    if (!heard && std::exchange(heard_nothing_, true)) return std::nullopt;
    const int room = sending_.all_gone() ? 0 : POLLOUT;
    return Pause{static_cast<short>(POLLIN | room), pause_};
  }

 private:
  static constexpr int kMost = 50;

  Duration pause_;
  Sending sending_;
  int steps_ = 0;
  bool heard_nothing_ = false;
};

}  // namespace

std::unique_ptr<Behaviour> converse(const Means& means) {
  return std::make_unique<Converse>(means);
}

}  // namespace joust::hostile
