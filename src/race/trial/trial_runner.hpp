// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "net/stop.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// Runs trials for real: a fresh server and a fresh client process each.
class ProcessRunner : public TrialRunner {
 public:
  struct Setup {
    const Scenario& scenario;
    CpuPlan cpus;
    const Stop& stop;                                  // once requested, a running trial ends as interrupted
    std::string program = "/proc/self/exe";            // what serves and loads
    std::vector<std::string> first_words = {"joust"};  // its argv up to the sub-command
    Duration server_start = std::chrono::seconds(15);  // until it listens, without a trial_timeout
    Duration server_stop = std::chrono::seconds(8);    // until it has drained
    Duration answer = std::chrono::seconds(5);         // to a question about its usage
    // By how much our looks at the ends of the timed window may be apart from it, beside a tenth of its
    // length.
    Duration lateness = std::chrono::milliseconds(20);
  };
  explicit ProcessRunner(Setup setup) : setup_(std::move(setup)) {}

  Trial run(const TrialOrder& order) override;

 private:
  Setup setup_;
};

// How long the load of a trial may take, from its start to its end, before it counts as hung.
Duration most_time(const LimitPlan& limits, const LoadPlan& load);

}  // namespace joust::race
