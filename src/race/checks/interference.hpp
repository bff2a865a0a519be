// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "race/checks/findings.hpp"

// Parts of the check of interference: what happened to the CPUs of a case's trials.
namespace joust::race {

// Time that the hypervisor gave to others. Returns how many trials lost too much of it.
std::size_t check_steal(const CaseResult& one, Findings& findings);

// CPU time that a contestant used while others had their turns.
void check_rest(const CaseResult& one, Findings& findings);

// A CPU quota that ran out.
void check_throttling(const CaseResult& one, Findings& findings);

// Clock rates that changed, which is no fault: the rounds share it out.
void check_clock(const CaseResult& one, Findings& findings);

}  // namespace joust::race
