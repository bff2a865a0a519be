// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/result.hpp"

namespace joust::race {

// Fills in the summary of every entry, without the ratios. If the case's reference has no result, the first
// contestant that has one becomes the reference.
void summarize(CaseResult& one);

}  // namespace joust::race
