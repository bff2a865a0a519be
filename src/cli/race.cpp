// SPDX-License-Identifier: MIT
#include "cli/common/command.hpp"

namespace joust {

void add_race(CLI::App& /*app*/, const Program& /*program*/, int& /*exit_code*/) {}

}  // namespace joust
