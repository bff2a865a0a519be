// SPDX-License-Identifier: MIT
//
// The choice: one line a behaviour, as often as it is to come up.
#include <array>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

constexpr std::array kBehaviours{
    flood, pipeline, converse, violate, read_slowly, stay_silent, half_close, trickle, cut, urgent,
};
constexpr std::size_t kAll = kBehaviours.size();

}  // namespace

std::unique_ptr<Behaviour> some_behaviour(const Means& means) {
  if (means.appetite.answers && means.chance.one_in(2)) return answer(means);
  std::size_t which = means.chance.below(kAll);
  while ((means.appetite.behaviours >> which & 1U) == 0) which = (which + 1) % kAll;
  return kBehaviours[which](means);
}

std::uint64_t some_behaviours(Chance& chance) {
  if (chance.one_in(3)) return ~std::uint64_t{0};
  std::uint64_t set = 0;
  for (std::uint64_t left = 1 + chance.below(3); left > 0; --left)
    set |= std::uint64_t{1} << (chance.one_in(3) ? 0 : chance.below(kAll));
  return set;
}

}  // namespace joust::hostile
