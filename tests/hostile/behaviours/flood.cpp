// SPDX-License-Identifier: MIT
//
// A peer that sends messages as fast as they are taken and never reads: the other side must stop reading, or
// give the peer up, and hold no more memory than its limits allow.
#include <poll.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Flood : public Behaviour {
 public:
  explicit Flood(const Means& means) : means_(means), left_(means.chance.below(means.appetite.flood_bytes)) {}

  std::optional<Pause> step(Wire& wire) override {
    const std::uint64_t before = wire.sent();
    for (int messages = 0; messages < 8 && sending_.all_gone() && left_ > 0; ++messages) {
      std::string message = means_.messages.valid();
      left_ -= std::min<std::uint64_t>(left_, message.size());
      sending_.put(std::move(message));
      sending_.send(wire);
    }
    if (!sending_.all_gone()) sending_.send(wire);
    if (sending_.all_gone() && left_ == 0) return std::nullopt;
    if (wire.sent() == before && std::exchange(full_, true)) return std::nullopt;  // there was time enough
    full_ = wire.sent() == before;
    return Pause{POLLOUT, means_.appetite.pause};
  }

 private:
  Means means_;
  Sending sending_;
  std::uint64_t left_;  // bytes
  bool full_ = false;
};

}  // namespace

std::unique_ptr<Behaviour> flood(const Means& means) {
  return std::make_unique<Flood>(means);
}

}  // namespace joust::hostile
