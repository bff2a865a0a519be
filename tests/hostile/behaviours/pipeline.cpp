// SPDX-License-Identifier: MIT
//
// Many small messages in one piece, whose replies are not awaited; and now and then a broken one behind them.
#include <poll.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Pipeline : public Behaviour {
 public:
  explicit Pipeline(const Means& means) : pause_(means.appetite.pause) {
    std::string all;
    for (std::uint64_t left = means.chance.size(500); left > 0; --left) all += means.messages.small();
    if (means.chance.one_in(4)) all += means.messages.invalid();
    sending_.put(std::move(all));
  }

  std::optional<Pause> step(Wire& wire) override {
    sending_.send(wire);
    if (sending_.all_gone() || std::exchange(waited_, true)) return std::nullopt;
    return Pause{POLLOUT, pause_};
  }

 private:
  Duration pause_;
  Sending sending_;
  bool waited_ = false;
};

}  // namespace

std::unique_ptr<Behaviour> pipeline(const Means& means) {
  return std::make_unique<Pipeline>(means);
}

}  // namespace joust::hostile
