// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/result.hpp"

namespace joust::race {

// Gives both sides of an entry the options of the protocol: the contestant's own, and those of the case that
// have an effect on the side. Throws std::invalid_argument where the load cannot be repeated with them.
void add_options(Entry& entry, const Case& one, const Catalogue& catalogue);

}  // namespace joust::race
