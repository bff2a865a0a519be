// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust {

// What a measurement depends on beside the contestants: machine, kernel, settings, limits and this program.
// Nothing in it changes from one run to the next, as time and load do.
struct Environment {
  struct Item {
    std::string name;   // snake_case, as in the JSON results
    std::string value;  // "unknown" when it could not be read
    bool must_agree;    // or else two runs should not be compared
  };
  std::vector<Item> items;

  // The value of an item; "unknown" when there is none of that name.
  std::string_view value(std::string_view name) const;

  // 16 hexadecimal digits over the names and values that must agree (XXH3-64). Equal for comparable runs.
  std::string fingerprint() const;
};

// Reads this machine and this process. Never fails: what cannot be read is "unknown". `root` is where proc/
// and sys/ are, so that a test can show another machine. Reads this program's own file: some milliseconds.
Environment read_environment(const std::string& root = "/");

}  // namespace joust
