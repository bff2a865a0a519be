// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "net/stop.hpp"
#include "race/trial/moved_files.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// Runs trials with real processes: a new server and a new client for each.
class ProcessRunner : public TrialRunner {
 public:
  struct Setup {
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
  explicit ProcessRunner(Setup setup) : setup_(std::move(setup)) {}

  Trial run(const TrialOrder& order) override;
  std::unique_ptr<Generation> generation(std::vector<TrialOrder> orders) override;

 private:
  Setup setup_;
  MovedFilesOfRace files_;
};

// Returns the longest time that a trial's load may take before it counts as hung.
Duration most_time(const LimitPlan& limits, const LoadPlan& load);

}  // namespace joust::race
