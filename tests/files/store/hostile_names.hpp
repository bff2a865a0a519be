// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust::test {

// Names that no peer may have its way with.
inline std::vector<std::string> hostile_names() {
  using namespace std::string_literals;
  return {
      ""s,
      "/"s,
      "/etc/passwd"s,
      "//etc/passwd"s,
      "."s,
      ".."s,
      "../secret"s,
      "a/../../secret"s,
      "a/.."s,
      "a/./b"s,
      "./a"s,
      "a//b"s,
      "a/"s,
      "a\0b"s,
      "secret\0.txt"s,
      "a\nb"s,
      "a\rb"s,
      "a\x1b[2Jb"s,
      "a\x7f"s,
      "a\xc2\x85"
      "b"s,                   // NEL, a control character of two bytes
      "\xff"s,                // no UTF-8 at all
      "\xc0\xae\xc0\xae/x"s,  // ".." in an overlong form
      "\xc0\xaf"s,            // "/" likewise
      "\xe0\x80\xaf"s,        // and of three bytes
      "\xf0\x80\x80\xaf"s,    // and of four
      "\xed\xa0\x80"s,        // a surrogate
      "\xf4\x90\x80\x80"s,    // beyond Unicode
      "a\xe2\x82"s,           // cut short
      "\x80"s,                // a stray continuation
      std::string(256, 'x'),
      std::string(4096, 'x'),
      std::string(5000, '/'),
      ".joust-upload-0"s,  // files in the making are nobody's
      "a/.joust-upload-0"s,
      ".JOUST-partial-0"s,  // the same file where the file system folds case
  };
}

}  // namespace joust::test
