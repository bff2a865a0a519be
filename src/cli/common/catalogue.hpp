// SPDX-License-Identifier: MIT
#pragma once

#include "cli/common/command.hpp"
#include "race/scenario/catalogue.hpp"

namespace joust {

// The engines of the library and the protocols of the program. Finds out which engines can run here.
race::Catalogue catalogue_of(const Program& program);

}  // namespace joust
