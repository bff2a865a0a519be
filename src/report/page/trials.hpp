// SPDX-License-Identifier: MIT
#pragma once

#include "report/page/document.hpp"

namespace joust::report::page {

// Reads the trials that count: the figures of every generation and the CPU time of both sides. Throws
// WrongDocument.
void read_trials(const Node& trials, bool moves_files, Runner& into);

}  // namespace joust::report::page
