// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "base/memory.hpp"
#include "connection/tally.hpp"

namespace joust::hostile {

// The faults that a run has shown, in words. Any thread.
class Findings {
 public:
  void add(const std::string& text) { found_->keep(text); }
  std::vector<std::string> all() const { return found_->all(); }  // the first ones tell the cause

 private:
  SharedMemory<DistinctTexts> found_;  // sessions may live in other processes
};

}  // namespace joust::hostile
