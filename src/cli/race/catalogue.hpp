// SPDX-License-Identifier: MIT
#pragma once

#include "cli/common/command.hpp"
#include "race/model/catalogue.hpp"

namespace joust {

// Returns the engines of the library and the protocols of the program. Tests which engines can run here.
race::Catalogue catalogue_of(const Program& program);

}  // namespace joust
