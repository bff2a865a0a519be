// SPDX-License-Identifier: MIT
#include "base/terminal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace joust {
namespace {

// Sets the variables of the locale until the end of a test.
class Locale {
 public:
  explicit Locale(const char* all, const char* ctype = "", const char* lang = "") {
    for (const auto& [name, value] : {std::pair{"LC_ALL", all}, {"LC_CTYPE", ctype}, {"LANG", lang}}) {
      if (const char* const before = std::getenv(name)) before_[name] = before;
      ::setenv(name, value, 1);
    }
  }
  ~Locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      ::unsetenv(name);
      if (before_.contains(name)) ::setenv(name, before_[name].c_str(), 1);
    }
  }
  Locale(const Locale&) = delete;
  Locale& operator=(const Locale&) = delete;

 private:
  std::map<std::string, std::string> before_;
};

TEST(InLocale, TheFirstVariableThatIsNotEmptyCounts) {
  const auto has = [](const char* all, const char* ctype, const char* lang) {
    const Locale locale(all, ctype, lang);
    return locale_has_utf8();
  };
  EXPECT_TRUE(has("", "", ""));
  EXPECT_TRUE(has("", "", "en_GB.UTF-8"));
  EXPECT_TRUE(has("C.utf8", "C", "C"));
  EXPECT_FALSE(has("C", "", "en_GB.UTF-8"));
  EXPECT_FALSE(has("", "POSIX", "en_GB.UTF-8"));
  EXPECT_FALSE(has("", "", "de_DE"));
}

TEST(InLocale, WithoutUtf8CharactersHaveStandIns) {
  const Locale locale("C");
  EXPECT_EQ(in_locale("plain\n\x1b[1m"), "plain\n\x1b[1m");
  EXPECT_EQ(in_locale("███▍ │ – ≥ 1.5 ±"), "###  | - > 1.5 +-");
  EXPECT_EQ(in_locale("ü\xff"), "\\xc3\\xbc\\xff");
}

TEST(InLocale, WithUtf8ATextStays) {
  const Locale locale("C.UTF-8");
  EXPECT_EQ(in_locale("█ ü\xff"), "█ ü\xff");
}

}  // namespace
}  // namespace joust
