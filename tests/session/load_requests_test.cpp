// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "load/outstanding.hpp"
#include "load/shown_messages.hpp"

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

TEST(WrongReply, SaysWhichRequestWhatWasExpectedAndWhatCame) {
  EXPECT_EQ(
      describe({.complaint = "a reply is not the right one",
                .connection = 3,
                .request = 17,
                .expected = as_bytes("HELLO"),
                .came = as_bytes("HELlO\n")}),
      "request 17 of connection 3: a reply is not the right one; 5 bytes expected: \"HELLO\", 6 bytes came: "
      "\"HELlO\\x0a\", different from byte 3 on");
}

TEST(WrongReply, ShowsTheFirstBytesOnly) {
  const std::string expected(100, 'a'), came = std::string(63, 'a') + std::string(37, 'b');
  const std::string first(63, 'a');
  const std::string text =
      describe({.complaint = "wrong", .expected = as_bytes(expected), .came = as_bytes(came)});
  EXPECT_TRUE(text.contains("100 bytes expected: \"" + first + "a\"...,")) << text;
  EXPECT_TRUE(text.contains("100 bytes came: \"" + first + "b\"..., different from byte 63 on")) << text;
}

TEST(WrongReply, ShowsTheBytesAroundADifferenceFarBehind) {
  std::string expected(10'000, 'a'), came = expected;
  came[5000] = 'b';
  const std::string text =
      describe({.complaint = "wrong", .expected = as_bytes(expected), .came = as_bytes(came)});
  EXPECT_TRUE(text.contains("came: ...\"" + std::string(16, 'a') + "b" + std::string(47, 'a') + "\"..."))
      << text;
  EXPECT_TRUE(text.ends_with("different from byte 5000 on")) << text;
}

TEST(WrongReply, ThatIsTooShortDiffersAtItsEnd) {
  const std::string text =
      describe({.complaint = "wrong", .expected = as_bytes("abcdef"), .came = as_bytes("abc")});
  EXPECT_TRUE(text.ends_with("6 bytes expected: \"abcdef\", 3 bytes came: \"abc\", different from byte 3 on"))
      << text;
}

TEST(WrongReply, MayBeToARequestWhoseReplyIsNotKnown) {
  EXPECT_EQ(describe({.complaint = "a job is not complete", .request = 1, .came = as_bytes("\x08\x01")}),
            "request 1 of connection 0: a job is not complete; 2 bytes came: \"\\x08\\x01\"");
}

}  // namespace
}  // namespace joust
