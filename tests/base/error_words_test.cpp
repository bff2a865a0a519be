// SPDX-License-Identifier: MIT
//
// Errors in the words of users, without those of the libraries.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace joust {
namespace {

template <class Action>
std::string words(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return words_of(error);
  }
  return "nothing was thrown";
}

TEST(ErrorWords, NameNoLibrary) {
  EXPECT_EQ(words([] { throw std::bad_alloc(); }), "there is not enough memory");
  EXPECT_EQ(words([] { std::filesystem::directory_iterator("/nothing/here"); }),
            "/nothing/here: No such file or directory");
  const std::string of_json = words([] { nlohmann::json("text").get<int>(); });
  EXPECT_TRUE(of_json.starts_with("type must be number")) << of_json;
  EXPECT_EQ(words([] { throw std::runtime_error("[json.exception.x"); }), "[json.exception.x");
  EXPECT_EQ(words([] { throw std::runtime_error("as it is"); }), "as it is");
}

TEST(ErrorWords, FindAMissingQuote) {
  const std::string missing = "a text has no closing quote: the line ends within it";
  const char* const of_parser = "Error while parsing string: unescaped control characters are prohibited";
  EXPECT_EQ(toml_error("title = \"abc\nx = 1\n", 1, 13, of_parser), missing);
  EXPECT_EQ(toml_error("x = 1\ntitle = \"abc\r\n", 2, 13, of_parser), missing);
  EXPECT_EQ(toml_error("title = \"abc", 1, 13, "Error while parsing string: encountered end-of-file"),
            missing);
  EXPECT_EQ(toml_error("a = \"x\x01y\"\n", 1, 7, of_parser), of_parser);
  EXPECT_EQ(toml_error("a = [1, 2\nb = 3\n", 2, 1, "Error while parsing array"), "Error while parsing array");
}

}  // namespace
}  // namespace joust
