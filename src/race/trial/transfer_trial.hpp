// SPDX-License-Identifier: MIT
#pragma once

#include "race/trial/moved_files.hpp"
#include "race/trial/process_setup.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// Runs one contestant that moves the files once, with a server of its own if it has one. The time is that of
// its whole command, from before its start to its end. Whether all bytes arrived is checked afterwards.
Trial run_transfer(const ProcessSetup& setup, const TrialOrder& order, MovedFilesOfRace& files);

}  // namespace joust::race
