// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "net/stop.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {

// The conditions of trials with real processes.
struct ProcessSetup {
  const Scenario& scenario;
  CpuPlan cpus;
  const Stop& stop;                                  // when requested, a running trial ends as interrupted
  std::string program = "/proc/self/exe";            // the program that serves and loads
  std::vector<std::string> first_words = {"joust"};  // its arguments before the sub-command
  Duration server_start = std::chrono::seconds(15);  // time until it listens, if no trial_timeout is given
  Duration server_stop = std::chrono::seconds(8);    // time until it has drained
  Duration answer = std::chrono::seconds(5);         // time to answer a request for its usage
  // The allowed distance between our readings and the ends of the timed window, in addition to a tenth of
  // its length.
  Duration lateness = std::chrono::milliseconds(20);
};

// Returns the longest time that a trial's load may take before it counts as hung.
Duration most_time(const LimitPlan& limits, const LoadPlan& load);

}  // namespace joust::race
