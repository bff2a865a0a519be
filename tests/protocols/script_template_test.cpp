// SPDX-License-Identifier: MIT
//
// Templates of script: what they write, what they find again, and what they refuse.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "protocols/script/template.hpp"

namespace joust::script {
namespace {

Template compiled(std::string_view text, std::size_t payload = 8) {
  auto made = Template::compile(text, payload);
  if (!made) throw std::invalid_argument(made.error());
  return *made;
}

std::string written(const Template& form, const MessageNumber& message = {},
                    const Rendered* request = nullptr, std::string_view reply = {}) {
  Rendered into;
  const auto made = form.render(message, request, as_bytes(reply), into);
  if (!made) throw std::invalid_argument(made.error());
  return std::string(as_text(into.bytes));
}

std::string error_of(std::string_view text) {
  const auto made = Template::compile(text, 8);
  return made ? "" : made.error();
}

TEST(ScriptTemplate, WritesEscapesAndNumbers) {
  EXPECT_EQ(written(compiled(R"(a\r\n\t\\\{\}\"\x41)")), "a\r\n\t\\{}\"A");
  EXPECT_EQ(written(compiled(R"(\0)")), std::string(1, '\0'));
  EXPECT_EQ(
      written(compiled("{connection} {message} {message:4} {counter}"), {.connection = 3, .number = 17}),
      "3 17 0017 3000000017");
  EXPECT_TRUE(compiled("PING").is_constant());
  EXPECT_FALSE(compiled("{message}").is_constant());
}

TEST(ScriptTemplate, WritesRandomValuesThatDependOnNumbersAndSeedOnly) {
  const Template form = compiled("GET {rand:key:1..1000} {rand:1..1000}");
  std::set<std::string> texts;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const std::string text = written(form, {.connection = 1, .number = number});
    EXPECT_EQ(text, written(form, {.connection = 1, .number = number}));
    texts.insert(text);
    int first = 0, second = 0;
    ASSERT_EQ(std::sscanf(text.c_str(), "GET key:%d %d", &first, &second), 2) << text;
    EXPECT_TRUE(first >= 1 && first <= 1000 && second >= 1 && second <= 1000) << text;
  }
  EXPECT_GT(texts.size(), 950U);
  EXPECT_NE(written(form, {.connection = 1}), written(form, {.connection = 2}));
  EXPECT_NE(written(form, {.seed = 1}), written(form, {.seed = 2}));
  EXPECT_EQ(written(compiled("{rand:7..7}")), "7");
}

TEST(ScriptTemplate, CoversARangeEvenly) {
  const Template form = compiled("{rand:0..9}");
  std::array<int, 10> counts{};
  for (std::uint64_t number = 0; number < 10'000; ++number)
    ++counts.at(static_cast<std::size_t>(std::stoi(written(form, {.number = number}))));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);  // five standard deviations
}

TEST(ScriptTemplate, WritesRandomBytesOfASize) {
  EXPECT_EQ(written(compiled("{bytes}", 12)).size(), 12U);
  EXPECT_EQ(written(compiled("{bytes:1KiB}")).size(), 1024U);
  const Template ranged = compiled("{bytes:3..5}");
  std::set<std::size_t> sizes;
  for (std::uint64_t number = 0; number < 100; ++number) {
    const std::string text = written(ranged, {.number = number});
    sizes.insert(text.size());
    EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0; })) << text;
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{3, 4, 5}));
  const std::string binary = written(compiled("{binary:4096}"));
  EXPECT_TRUE(std::ranges::any_of(binary, [](char c) { return (c & 0x80) != 0; }));
}

TEST(ScriptTemplate, WritesSizesOfWhatFollows) {
  EXPECT_EQ(written(compiled("{size:u8}abc")),
            "\x03"
            "abc");
  EXPECT_EQ(written(compiled("{size:u16}abc")), std::string("\0\x03"
                                                            "abc",
                                                            5));
  EXPECT_EQ(written(compiled("{size:u16le}abc")), std::string("\x03\0"
                                                              "abc",
                                                              5));
  EXPECT_EQ(written(compiled("{size:u32+self}abc")), std::string("\0\0\0\x07"
                                                                 "abc",
                                                                 7));
  EXPECT_EQ(written(compiled("{size:u64le}a")), std::string("\x01\0\0\0\0\0\0\0"
                                                            "a",
                                                            9));
  EXPECT_EQ(written(compiled("Q{size:u32+self}select 1\\0")), std::string("Q\0\0\0\x0dselect 1\0", 14));
}

TEST(ScriptTemplate, HardlyEverRepeatsRandomBytes) {
  const Template form = compiled("{bytes:12} {bytes:12}");
  std::set<std::string> values;
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    const std::string text = written(form, {.number = number});
    values.insert(text.substr(0, 12));
    values.insert(text.substr(13));
  }
  EXPECT_EQ(values.size(), 40'000U);
  EXPECT_NE(written(form, {.connection = 1}), written(form, {.connection = 0, .seed = 1}));
}

TEST(ScriptTemplate, SaysWhichSizeOrMessageIsTooLarge) {
  const auto error = [](std::string_view text) {
    Rendered into;
    const auto made = compiled(text).render({}, nullptr, {}, into);
    EXPECT_LT(into.bytes.size(), std::size_t{3} << 20);
    return made ? "" : made.error();
  };
  EXPECT_EQ(error("{size:u8}{bytes:300}"), "300 bytes are more than {size:u8} can say");
  EXPECT_EQ(error("{size:u8+self}{bytes:255}"), "256 bytes are more than {size:u8} can say");
  EXPECT_EQ(error("{size:u8}{bytes:255}"), "");
  std::string large;
  for (int i = 0; i < 100; ++i) large += "{bytes:1MiB}";
  EXPECT_EQ(error(large), "a message has more than 1048576 bytes");
}

TEST(ScriptTemplate, WritesSizesOfAPart) {
  EXPECT_EQ(written(compiled("${size}\\r\\n{begin}key:{message}{end}\\r\\n"), {.number = 12}),
            "$6\r\nkey:12\r\n");
  EXPECT_EQ(written(compiled("{size:u8}{begin}ab{end}cd")),
            "\x02"
            "abcd");
  EXPECT_EQ(written(compiled("{size}{begin}ab{end}{size}{begin}cde{end}\\n")), "2ab3cde\n");
  // A size within the bytes of another one is counted with its digits.
  EXPECT_EQ(written(compiled("{size} {size}{begin}0123456789{end}!")), "14 100123456789!");
  EXPECT_EQ(written(compiled("{size:u8}{size}{begin}0123456789{end}!")),
            "\x0d"
            "100123456789!");
}

TEST(ScriptTemplate, WritesTheNumberOfARequestAsAnId) {
  EXPECT_EQ(written(compiled("{id:u16}q"), {.number = 0x12345}), "\x23\x45q");
  EXPECT_EQ(written(compiled("{id:u32le}"), {.number = 2}), std::string("\x02\0\0\0", 4));
}

TEST(ScriptTemplate, TakesPartsOfTheReplyBefore) {
  EXPECT_EQ(written(compiled("token {reply:3+4}"), {}, nullptr, "is abcdef"), "token abcd");
  Rendered into;
  const auto made = compiled("{reply:3+4}").render({}, nullptr, as_bytes("short"), into);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().contains("has 5 bytes")) << made.error();
}

TEST(ScriptTemplate, TakesValuesOfTheRequest) {
  Rendered request;
  ASSERT_TRUE(compiled("ECHO {rand:1..9} {message}").render({.number = 4}, nullptr, {}, request));
  EXPECT_EQ(written(compiled("{2}-{1}"), {}, &request), "4-" + std::string(request.value(0)));
}

// What match() finds in a message is what render() has put there.
TEST(ScriptTemplate, FindsItsValuesAgain) {
  for (const char* text :
       {"GET {rand:key:1..1000} {message}\\r\\n", "{size:u32}{id:u16}{bytes:0..40}", "{bytes:3}{size}xy",
        "{size} {begin}{rand:1..99999}{end} {size}:{begin}{message}{end}!",
        "*2\\r\\n$3\\r\\nGET\\r\\n${size}\\r\\n{begin}k{rand:1..99999}{end}\\r\\n", "{message}:{connection}",
        "{bytes:4}{bytes:4}", "plain"}) {
    const Template form = compiled(text);
    for (std::uint64_t number = 0; number < 200; ++number) {
      Rendered made;
      ASSERT_TRUE(form.render({.connection = 5, .number = number}, nullptr, {}, made));
      const auto found = form.match(made.bytes);
      ASSERT_TRUE(found) << text;
      EXPECT_EQ(found->values, made.values) << text;
    }
  }
  Rendered beside;
  ASSERT_TRUE(compiled("{bytes:3}{size}xy\\n").render({}, nullptr, {}, beside));
  EXPECT_EQ(beside.value(0).size(), 3U) << "a size behind a value is no part of it";
  EXPECT_FALSE(compiled("GET {message}\\r\\n").match(as_bytes("GET x\r\n")));
  EXPECT_FALSE(compiled("GET {message}\\r\\n").match(as_bytes("GET 1\r\nGET 2\r\n")));
  EXPECT_FALSE(compiled("plain").match(as_bytes("plai")));
}

TEST(ScriptTemplate, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(error_of("ab{").contains("at character 3: a brace that is not closed")) << error_of("ab{");
  EXPECT_TRUE(error_of("}").contains("written \\}"));
  EXPECT_TRUE(error_of("{mesage}").contains("did you mean 'message'?")) << error_of("{mesage}");
  EXPECT_TRUE(error_of("\\q").contains("'\\q' is no escape")) << error_of("\\q");
  EXPECT_TRUE(error_of("\\x4").contains("is no escape"));
  EXPECT_TRUE(error_of("\\").contains("a backslash at the end"));
  EXPECT_TRUE(error_of("{rand:9..1}").contains("is empty")) << error_of("{rand:9..1}");
  EXPECT_TRUE(error_of("{rand}").contains("no range"));
  EXPECT_TRUE(error_of("{bytes:2MiB}").contains("more than 1048576")) << error_of("{bytes:2MiB}");
  EXPECT_TRUE(error_of("{size:u24}").contains("is no size"));
  EXPECT_TRUE(error_of("{id:u8}").contains("say {id:u16}"));
  EXPECT_TRUE(error_of("{begin}").contains("put a {size} before it"));
  EXPECT_TRUE(error_of("{end}").contains("has no {size}"));
  EXPECT_TRUE(error_of("{size}{begin}{begin}").contains("put a {size} before it"));
  EXPECT_TRUE(error_of("{size}{end}{begin}").contains("put a {size} before it"));
  EXPECT_TRUE(error_of("{reply:8}").contains("{reply:4+8}"));
  EXPECT_TRUE(error_of("{message:99}").contains("no number of digits"));
}

}  // namespace
}  // namespace joust::script
