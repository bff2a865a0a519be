// SPDX-License-Identifier: MIT
//
// A peer that reads a few bytes now and then, so that the other side's sends come up short again and again.
#include <poll.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class ReadSlowly : public Behaviour {
 public:
  explicit ReadSlowly(const Means& means)
      : part_(means.chance.size(10'000)),
        pause_(means.chance.time(std::chrono::milliseconds(2))),
        left_(means.chance.size(30)) {}

  std::optional<Pause> step(Wire& wire) override {
    wire.receive(part_);
    if (wire.ended() || --left_ == 0) return std::nullopt;
    return Pause{0, pause_};
  }

 private:
  std::size_t part_;  // bytes
  Duration pause_;
  std::uint64_t left_;  // reads
};

}  // namespace

std::unique_ptr<Behaviour> read_slowly(const Means& means) {
  return std::make_unique<ReadSlowly>(means);
}

}  // namespace joust::hostile
