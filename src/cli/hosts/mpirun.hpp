// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/common/command.hpp"

namespace joust {

// Returns the command that runs this program with the same arguments on all hosts, by rank. Throws UsageError
// if what it needs is not installed.
std::vector<std::string> mpirun_words(const Program& program, const std::vector<std::string>& hosts);

// Runs the command and waits for its end. A signal to this process asks rank 0 to end the work in order.
// Returns the exit code of rank 0, or kRunError if that has none. A host that cannot be reached is named.
// Throws UsageError where mpirun would not run for this user.
int run_mpirun(std::vector<std::string> words, const std::vector<std::string>& hosts, const Program& program);

// In a process that mpirun has started: puts the relay in its place, which starts this program anew.
[[noreturn]] void become_relay(const Program& program);

}  // namespace joust
