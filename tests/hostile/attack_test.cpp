// SPDX-License-Identifier: MIT
//
// A few seeds of the hostile crowd for every engine and protocol. script/soak runs others for as long as one
// likes.
#include "hostile/attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace joust::hostile {
namespace {

struct Case {
  Role role;
  const Engine* engine;
  std::string protocol;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.engine->name << ", " << one.protocol;
}

std::vector<Case> cases(Role role) {
  std::vector<Case> all;
  for (const Engine* engine : engines_over_sockets(role))
    for (const std::string& protocol : protocols(*engine, role)) all.push_back({role, engine, protocol});
  return all;
}

class HostileCrowd : public testing::TestWithParam<Case> {};

TEST_P(HostileCrowd, IsSurvived) {
  const auto& [role, engine, protocol] = GetParam();
  for (const std::uint64_t seed : {1, 2}) {
    const Setting setting = setting_of(seed, role, engine, protocol);
    for (const std::string& fault : attack(setting))
      ADD_FAILURE() << fault << "\n  script/soak " << setting.replay() << "\n  " << setting.text();
  }
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  std::string name = std::string(tested.param.engine->name) + "_" + tested.param.protocol;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Servers, HostileCrowd, testing::ValuesIn(cases(Role::serve)), name_of);
INSTANTIATE_TEST_SUITE_P(Clients, HostileCrowd, testing::ValuesIn(cases(Role::dial)), name_of);

}  // namespace
}  // namespace joust::hostile
