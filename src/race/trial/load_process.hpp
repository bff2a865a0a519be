// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/trial/side_failure.hpp"
#include "race/trial/trial_processes.hpp"

namespace joust::race {

// The load of a trial, from its start to its result.
class LoadProcess {
 public:
  // Uses the place of the load in `processes`, and keeps a reference to it.
  explicit LoadProcess(TrialProcesses& processes) : processes_(processes) {}

  // Starts `joust load ...`; `address`: where to connect, empty in process.
  Step<> start(ChildCommand command, const std::string& address);
  // Returns the document of a load that has ended.
  Step<std::string> document() const;

 private:
  std::string path() const;

  TrialProcesses& processes_;
};

}  // namespace joust::race
