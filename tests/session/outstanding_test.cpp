// SPDX-License-Identifier: MIT
#include "load/outstanding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "load/in_flight.hpp"

namespace joust {
namespace {

// Numbers and times are two lists of the same requests.
RC_GTEST_PROP(Outstanding, KeepsStepWithTheTimesInFlight, ()) {
  Outstanding outstanding;
  InFlight times;
  std::set<std::uint64_t> model, lost;
  const auto time_of = [](std::uint64_t number) { return Time(std::chrono::seconds(number)); };
  std::uint64_t next = 0;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
    if (step < 3) {
      outstanding.push(next);
      times.push(time_of(next));
      model.insert(next++);
    } else if (step == 3 && !model.empty()) {
      outstanding.lose_oldest();
      RC_ASSERT(times.take(0) == time_of(*model.begin()));
      lost.insert(*model.begin());
      model.erase(model.begin());
    } else if (next > 0) {
      const std::uint64_t number = *rc::gen::inRange<std::uint64_t>(0, next);
      const auto place = outstanding.place_of(number);
      RC_ASSERT(place.has_value() == model.contains(number));
      if (place) {
        outstanding.remove(*place);
        RC_ASSERT(times.take(*place) == time_of(number));
        model.erase(number);
      } else {
        RC_ASSERT(outstanding.was_lost(number) == (lost.erase(number) > 0));
      }
    }
    RC_ASSERT(times.size() == model.size());
    if (!model.empty()) RC_ASSERT(times.oldest() == time_of(*model.begin()));
  }
}

TEST(Outstanding, RemembersOnlyTheNewestOfThoseThatWereLost) {
  Outstanding outstanding;
  for (std::uint64_t number = 0; number <= Outstanding::kLostKept; ++number) {
    outstanding.push(number);
    outstanding.lose_oldest();
  }
  EXPECT_FALSE(outstanding.was_lost(0));
  EXPECT_TRUE(outstanding.was_lost(1));
  EXPECT_FALSE(outstanding.was_lost(1)) << "once";
}

}  // namespace
}  // namespace joust
