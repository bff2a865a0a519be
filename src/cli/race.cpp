// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

namespace joust {

void add_race(CLI::App& /*app*/, const Program& /*program*/, int& /*exit_code*/) {}

}  // namespace joust
