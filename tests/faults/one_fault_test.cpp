// SPDX-License-Identifier: MIT
//
// One call fails in the middle of an exchange: for every engine, every call it makes and every fault of that.
#include "faults/one_fault.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace joust::faults {
namespace {

constexpr std::uint64_t kBetween = 1;
constexpr std::uint64_t kSeed = 1;

struct Case {
  const Exchange* exchange;
  conformance::Variant variant;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.exchange->name << ", " << one.variant.name;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Exchange* exchange : exchanges())
    for (conformance::Variant& variant : variants_for(*exchange))
      all.push_back({exchange, std::move(variant)});
  return all;
}

class OneFault : public testing::TestWithParam<Case> {};

TEST_P(OneFault, CostsNoMoreThanItMust) {
  const auto& [exchange, variant] = GetParam();
  for (const Fault& fault : faults_of(variant, *exchange, kBetween, kSeed))
    for (const std::string& finding : try_fault(variant, *exchange, fault))
      ADD_FAILURE() << finding << "\n  script/soak " << replay(variant, *exchange, fault);
}

std::string name_of(const testing::TestParamInfo<Case>& tested) {
  std::string name = std::string(tested.param.exchange->name) + "_" + tested.param.variant.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Engines, OneFault, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace joust::faults
