// SPDX-License-Identifier: MIT
//
// A peer that neither sends nor reads for a while.
#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class StaySilent : public Behaviour {
 public:
  explicit StaySilent(const Means& means) : pause_(means.chance.time(means.appetite.pause)) {}

  std::optional<Pause> step(Wire& /*wire*/) override {
    if (std::exchange(slept_, true)) return std::nullopt;
    return Pause{0, pause_};
  }

 private:
  Duration pause_;
  bool slept_ = false;
};

}  // namespace

std::unique_ptr<Behaviour> stay_silent(const Means& means) {
  return std::make_unique<StaySilent>(means);
}

}  // namespace joust::hostile
