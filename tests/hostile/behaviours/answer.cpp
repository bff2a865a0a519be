// SPDX-License-Identifier: MIT
//
// What an honest server of echo does, for a while: without it a client would never get as far as its second
// request. Replies come in pieces.
#include <poll.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Answer : public Behaviour {
 public:
  explicit Answer(const Means& means)
      : piece_(means.chance.size(10'000)), pause_(means.appetite.pause), left_(means.chance.size(100)) {}

  std::optional<Pause> step(Wire& wire) override {
    if (sending_.all_gone()) sending_.put(wire.receive(piece_));
    sending_.send(wire);
    if (wire.ended() || --left_ == 0) return std::nullopt;
    return Pause{sending_.all_gone() ? short{POLLIN} : short{POLLOUT}, pause_};
  }

 private:
  std::size_t piece_;  // bytes
  Duration pause_;
  Sending sending_;
  std::uint64_t left_;  // steps
};

}  // namespace

std::unique_ptr<Behaviour> answer(const Means& means) {
  return std::make_unique<Answer>(means);
}

}  // namespace joust::hostile
