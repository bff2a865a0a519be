// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust {

// Returns the model of a CPU from the text of /proc/cpuinfo: "Intel(R) Xeon(R) Processor". On ARM, where the
// kernel has numbers only, returns each kind of core once, with its revision, and the board where it is
// known: "Arm Cortex-A72 r0p3; Raspberry Pi 4 Model B Rev 1.4". `board` is the text of the device tree's
// "model", which may be empty. Empty if the text has no model.
std::string cpu_model(std::string_view cpuinfo, std::string_view board);

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

// The values of the item softirq_time (measure/machine_cpu.hpp). Over loopback the receiver's network stack
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
