// SPDX-License-Identifier: MIT
//
// A few seeds of the hostile crowd for every engine and protocol. script/soak runs others for as long as one
// likes.
#include "hostile/attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace joust::hostile {
namespace {

using Case = std::tuple<const Engine*, std::string>;

class HostileCrowd : public testing::TestWithParam<Case> {};

TEST_P(HostileCrowd, IsSurvived) {
  const auto& [engine, protocol] = GetParam();
  for (const std::uint64_t seed : {1, 2}) {
    const Setting setting = setting_of(seed, engine, protocol);
    for (const std::string& fault : attack_server(setting))
      ADD_FAILURE() << fault << "\n  script/soak " << setting.replay() << "\n  " << setting.text();
  }
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  std::string name = std::string(std::get<0>(tested.param)->name) + "_" + std::get<1>(tested.param);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Engines, HostileCrowd,
                         testing::Combine(testing::ValuesIn(engines_over_sockets(Role::serve)),
                                          testing::ValuesIn(protocols())),
                         name_of);

}  // namespace
}  // namespace joust::hostile
