// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/result.hpp"
#include "report/race_document.hpp"

namespace joust::report {

// Returns one trial of a case as it is in the document of a race.
document::Trial trial_of(const race::Trial& trial, const race::Case& plan);

}  // namespace joust::report
