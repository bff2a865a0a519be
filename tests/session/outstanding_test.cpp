// SPDX-License-Identifier: MIT
#include "load/outstanding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace joust {
namespace {

// Numbers and times are lists of the same requests.
RC_GTEST_PROP(OutstandingRequests, HaveTheirNumbersAndTheirTimes, (bool open_loop)) {
  Outstanding outstanding(true);
  std::set<std::uint64_t> model, lost;
  const auto time_of = [](std::uint64_t number) { return Time(std::chrono::seconds(number)); };
  const auto sent_at = [&](std::uint64_t number) {
    return time_of(number) + std::chrono::seconds(open_loop ? 7 : 0);
  };
  const auto is_of = [&](const Outstanding::Request& request, std::uint64_t number) {
    return request.due == time_of(number) && request.sent == sent_at(number);
  };
  std::uint64_t next = 0;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
    if (step < 3) {
      outstanding.push(next, time_of(next), open_loop ? std::optional(sent_at(next)) : std::nullopt);
      model.insert(next++);
    } else if (step == 3 && !model.empty()) {
      RC_ASSERT(is_of(outstanding.give_up_oldest(), *model.begin()));
      lost.insert(*model.begin());
      model.erase(model.begin());
    } else if (next > 0) {
      const std::uint64_t number = *rc::gen::inRange<std::uint64_t>(0, next);
      const auto place = outstanding.numbers()->place_of(number);
      RC_ASSERT(place.has_value() == model.contains(number));
      if (place) {
        RC_ASSERT(is_of(outstanding.take(*place), number));
        model.erase(number);
      } else {
        RC_ASSERT(outstanding.numbers()->was_lost(number) == (lost.erase(number) > 0));
      }
    }
    RC_ASSERT(outstanding.size() == model.size());
    if (model.empty()) continue;
    RC_ASSERT(outstanding.oldest_due() == time_of(*model.begin()));
    RC_ASSERT(outstanding.oldest_sent() == sent_at(*model.begin()));
  }
}

TEST(RequestNumbers, RemembersOnlyTheNewestOfThoseThatWereLost) {
  RequestNumbers outstanding;
  for (std::uint64_t number = 0; number <= RequestNumbers::kLostKept; ++number) {
    outstanding.push(number);
    outstanding.lose_oldest();
  }
  EXPECT_FALSE(outstanding.was_lost(0));
  EXPECT_TRUE(outstanding.was_lost(1));
  EXPECT_FALSE(outstanding.was_lost(1)) << "once";
}

}  // namespace
}  // namespace joust
