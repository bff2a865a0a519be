// SPDX-License-Identifier: MIT
//
// The choice: one line a behaviour, as often as it is to come up.
#include <array>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

constexpr std::array kBehaviours{
    flood,   flood,       flood,       pipeline,   converse, converse, converse,
    violate, read_slowly, stay_silent, half_close, trickle,  cut,      urgent,
};

}  // namespace

std::unique_ptr<Behaviour> some_behaviour(const Means& means) {
  return means.chance.any_of(kBehaviours)(means);
}

}  // namespace joust::hostile
