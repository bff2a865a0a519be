// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.hpp"

namespace joust::doctor {

// Findings: the meaning of the facts of a machine for a race. Pure functions: no I/O, no clock; any thread.

enum class Level {
  good,     // nothing to mend
  unknown,  // the machine does not tell
  note,     // limits what a race can show, or its precision
  warning,  // distorts a race
};

// A finding, as it is in the document joust-doctor/1.
struct Finding {
  std::string_view subject{};  // "governor"
  Level level = Level::good;
  std::string found{};   // "powersave"
  std::string effect{};  // on a race; empty for good and unknown
  std::string mend{};    // a shell command; empty if none mends it
  std::string undo{};    // the command that undoes `mend`; empty if nothing is to be undone
  std::string advice{};  // where no command mends it, or beside the command
};

// Returns one finding for each subject, in a fixed order.
std::vector<Finding> findings(const Facts& facts);

}  // namespace joust::doctor
