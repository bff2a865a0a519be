// SPDX-License-Identifier: MIT
#include "secure/token.hpp"

#include <gtest/gtest.h>

#include <string>

namespace joust {
namespace {

std::string objection(std::string_view text) {
  try {
    const Token token(text);
    return {};
  } catch (const WeakToken& weak) {
    return weak.what();
  }
}

TEST(TokenTest, TakesHexadecimalAndBase64OfAtLeast128Bits) {
  EXPECT_EQ(objection("0123456789abcdef0123456789ABCDEF"), "");
  EXPECT_EQ(objection("Zm9vYmFyYmF6cXV4MTIzNA"), "");
  EXPECT_EQ(objection("Zm9vYmFyYmF6cXV4MTIzNA=="), "");
  EXPECT_EQ(objection(" \n0123456789abcdef0123456789ABCDEF\r\n"), "");
}

TEST(TokenTest, RefusesWhatIsNoSecretAndDoesNotRepeatIt) {
  for (const std::string text :
       {"", "   ", "hunter2", "0123456789abcdef0123456789abcde", "correct horse battery staple and more",
        "Zm9vYmFyYmF6cXV4MTIzN", "abababababababababababababababababababab"}) {
    const std::string words = objection(text);
    EXPECT_NE(words, "") << text;
    EXPECT_NE(words.find("--new-token"), std::string::npos) << words;
    if (text.size() > 4) {
      EXPECT_EQ(words.find(text), std::string::npos) << words;
    }
  }
  EXPECT_NE(objection(std::string(2000, 'a')), "");
}

TEST(TokenTest, MakesAnotherOneEachTime) {
  const Token one = Token::make(), other = Token::make();
  EXPECT_EQ(objection(one.text()), "");
  EXPECT_GE(one.text().size(), 43U);
  EXPECT_NE(one.text(), other.text());
}

TEST(TokenTest, KeysDependOnTheTokenAndThePurpose) {
  const Token token("0123456789abcdef0123456789abcdef"), other("0123456789abcdef0123456789abcdee");
  EXPECT_EQ(token.key_for("a"), Token("0123456789abcdef0123456789abcdef\n").key_for("a"));
  EXPECT_NE(token.key_for("a"), token.key_for("b"));
  EXPECT_NE(token.key_for("a"), other.key_for("a"));
}

// RFC 4231, test case 2 has a key of 4 bytes; with one of 32, zero padded as HMAC pads, the value is the
// same.
TEST(TokenTest, AuthenticatesAsTheStandardSays) {
  Token::Key key{};
  std::ranges::copy(as_bytes("Jefe"), key.begin());
  const Token::Key value = authenticated(key, {as_bytes("what do ya want "), as_bytes("for nothing?")});
  EXPECT_EQ(std::to_integer<int>(value[0]), 0x5b);
  EXPECT_EQ(std::to_integer<int>(value[1]), 0xdc);
  EXPECT_EQ(std::to_integer<int>(value[31]), 0x43);
}

}  // namespace
}  // namespace joust
