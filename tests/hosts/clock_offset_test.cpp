// SPDX-License-Identifier: MIT
#include "hosts/link.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "hosts/agent.hpp"
#include "hosts/link.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

// A host that answers the request for its clock with this.
std::expected<ClockOffset, std::string> clock_of(const Json& reply) {
  const Handlers handlers{{"clock", [&](const Json&) { return reply; }}};
  LocalLink link(handlers, "b");
  return measure_clock(link, 3);
}

TEST(ClockOffset, IsNextToNothingForTheSameClock) {
  const Handlers handlers{{"clock", [](const Json&) {
                             return Json{{"now_ns", Clock::now().time_since_epoch().count()}};
                           }}};
  LocalLink link(handlers, "b");
  const auto clock = measure_clock(link, 3);
  ASSERT_TRUE(clock) << clock.error();
  EXPECT_LE(std::chrono::abs(clock->offset), clock->error);
}

// A host may say anything, and no sum of times may overflow for it.
TEST(ClockOffset, OfATimeThatNoClockHasIsAnError) {
  for (const char* const time : {"-9223372036854775808", "-1", "9223372036854775807", "18446744073709551615",
                                 "1e300", "1.5", "\"soon\"", "null", "[]", "{}"}) {
    const auto clock = clock_of({{"now_ns", Json::parse(time)}});
    ASSERT_FALSE(clock) << time;
    EXPECT_EQ(clock.error(), std::string("its clock: ") + kNotUnderstood) << time;
  }
  EXPECT_FALSE(clock_of(Json::object()));
}

TEST(ClockOffset, OfTheLongestUptimeIsKnown) {
  const auto clock = clock_of({{"now_ns", std::int64_t{1} << 60}});
  ASSERT_TRUE(clock) << clock.error();
  EXPECT_GT(clock->offset, std::chrono::hours(24 * 365 * 30));
}

TEST(Failure, IsInPlainWordsWhateverAHostSays) {
  for (const char* const said : {"5", "null", "[]", "{\"a\":1}"}) {
    const auto why = failure_in(Json{{"failed", Json::parse(said)}});
    ASSERT_TRUE(why) << said;
    EXPECT_EQ(*why, kNotUnderstood) << said;
  }
  EXPECT_EQ(failure_in(Json{{"failed", "no disk"}}), "no disk");
  EXPECT_EQ(failure_in(Json::object()), std::nullopt);
}

}  // namespace
}  // namespace joust::hosts
