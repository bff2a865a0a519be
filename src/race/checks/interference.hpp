// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "race/checks/findings.hpp"

// Parts of the check of interference: how the CPUs of a case's trials were disturbed.
namespace joust::race {

// Checks the time that the hypervisor gave to other guests. Returns how many trials lost too much of it.
std::size_t check_steal(const CaseResult& one, Findings& findings);

// Checks the CPU time that a contestant used while others had their turns.
void check_rest(const CaseResult& one, Findings& findings);

// Checks whether a CPU quota ran out.
void check_throttling(const CaseResult& one, Findings& findings);

// Checks whether clock rates changed. A change is no fault, because the rounds spread it over all
// contestants.
void check_clock(const CaseResult& one, Findings& findings);

}  // namespace joust::race
