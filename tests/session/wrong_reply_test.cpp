// SPDX-License-Identifier: MIT
#include "load/shown_messages.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

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
