// SPDX-License-Identifier: MIT
#pragma once

#include "race/trial/process_family.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust::race {

// Runs trials with real processes: a new server and a new client for each.
class ProcessRunner : public TrialRunner {
 public:
  explicit ProcessRunner(ProcessSetup setup) : setup_(std::move(setup)) {}

  Trial run(const TrialOrder& order) override;
  std::unique_ptr<Generation> generation(std::vector<TrialOrder> orders) override;

 private:
  ProcessSetup setup_;
  MovedFilesOfRace files_;
};

}  // namespace joust::race
