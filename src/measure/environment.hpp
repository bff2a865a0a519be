// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust {

// The conditions of a measurement beside the contestants: machine, kernel, settings, limits and this program.
// They do not change from one run to the next, as time and load do.
struct Environment {
  struct Item {
    std::string name;   // snake_case, as in the JSON results
    std::string value;  // "unknown" when it could not be read
    bool must_agree;    // if it differs, two runs should not be compared
  };
  std::vector<Item> items;

  // Returns the value of an item; "unknown" if no item has that name.
  std::string_view value(std::string_view name) const;

  // Returns 16 hexadecimal digits over the names and values that must agree (XXH3-64). Equal for comparable
  // runs.
  std::string fingerprint() const;
};

// The values of the item softirq_time (measure/softirq_time.hpp). Over loopback the receiver's network stack
// runs in a softirq of the sender. Kernels that account interrupts apart (CONFIG_IRQ_TIME_ACCOUNTING) count
// it in no CPU time, others in that of the sender.
inline constexpr const char* kSoftirqApart = "apart from CPU times";
inline constexpr const char* kSoftirqInside = "in the CPU time of the sender";

// Reads this machine and this process. Never fails: a value that cannot be read is "unknown". `root` is the
// directory of proc/ and sys/, so that a test can show another machine. Reads this program's own file, which
// takes some milliseconds.
Environment read_environment(const std::string& root = "/");

// Returns the name of this host; "unknown" where the system has none.
std::string host_name();

}  // namespace joust
