// SPDX-License-Identifier: MIT
//
// One call fails in the middle of an exchange: for every engine, every call that it makes and every error of
// that call. Where it fails is sampled by a fixed seed: each error comes up twice for an engine, in any of
// its exchanges and settings, at any of the calls made there. script/soak --faults tries all places.
#include "faults/one_fault.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hostile/chance.hpp"
#include "hostile/setting.hpp"

namespace joust::faults {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr unsigned kTrials = 2;  // of each error of each call

struct Trial {
  const Exchange* exchange;
  conformance::Variant variant;
  Fault fault;
};

// Every error of every call, in every exchange and setting, in an order of chance.
std::vector<Trial> trials_of(const Engine& engine) {
  std::vector<Trial> all;
  for (const Exchange* exchange : exchanges())
    for (const conformance::Variant& variant : variants_for(*exchange))
      if (variant.engine->name == engine.name)
        for (const Fault& fault : faults_of(variant, *exchange, 1, kSeed + all.size()))
          all.push_back({exchange, variant, fault});
  hostile::Chance chance(kSeed, 0);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[chance.below(i)]);
  return all;
}

class OneFault : public testing::TestWithParam<const Engine*> {};

TEST_P(OneFault, CostsNoMoreThanItMust) {
  std::map<std::tuple<const Call*, int>, unsigned> tried;
  for (const auto& [exchange, variant, fault] : trials_of(*GetParam())) {
    if (++tried[{fault.call, fault.error}] > kTrials) continue;
    for (const std::string& finding : try_faults(variant, *exchange, {&fault, 1}))
      ADD_FAILURE() << finding << "\n  script/soak " << replay(variant, *exchange, arguments(fault));
  }
  EXPECT_GT(tried.size(), 50U);  // or the seam would have come loose
}

std::string name_of(const testing::TestParamInfo<const Engine*>& tested) {
  std::string name(tested.param->name);
  std::ranges::replace(name, '-', '_');
  return name;
}

// Those of variants_for().
std::vector<const Engine*> engines_of_one_process() {
  std::vector<const Engine*> all = hostile::engines_over_sockets(Role::serve);
  std::erase_if(all, [](const Engine* engine) { return engine->separate_processes || engine->in_module; });
  return all;
}

// Boost.Asio takes memory for each operation, and ends the program where its strand finds none at the wrong
// place. So each place is tried.
TEST(OneFaultOfAsio, ForWantOfMemoryEndsNoServer) {
  const Engine& engine = *find_engine("asio-pool");
  if (engine.unavailable && !engine.unavailable().empty()) GTEST_SKIP() << engine.unavailable();
  unsigned tried = 0;
  for (const Exchange* exchange : {&kEcho, &kRoom})
    for (const conformance::Variant& variant : variants_for(*exchange)) {
      if (variant.name != "asio-pool") continue;
      for (const Fault& fault : faults_of(variant, *exchange, kAllPlaces, kSeed)) {
        if (fault.call->name() != "aligned_alloc") continue;
        ++tried;
        for (const std::string& finding : try_faults(variant, *exchange, {&fault, 1}))
          ADD_FAILURE() << finding << "\n  script/soak " << replay(variant, *exchange, arguments(fault));
      }
    }
  EXPECT_GT(tried, 10U);
}

INSTANTIATE_TEST_SUITE_P(Engines, OneFault, testing::ValuesIn(engines_of_one_process()), name_of);

}  // namespace
}  // namespace joust::faults
