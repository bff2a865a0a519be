// SPDX-License-Identifier: MIT
#pragma once

#include "race/trial/moved_files.hpp"
#include "race/trial/trial_runner.hpp"

namespace joust::race {

// One contestant moves the files once, with a server of its own if it has one. The time is that of its whole
// command, from before its start to its end; whether all bytes arrived is looked at afterwards.
Trial run_transfer(const ProcessRunner::Setup& setup, const TrialOrder& order, MovedFilesOfRace& files);

}  // namespace joust::race
