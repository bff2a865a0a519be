// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command.hpp"
#include "load/settings.hpp"

namespace joust {

// The flags of a load, a row of load_settings() each. After parsing, `given` has what was given.
struct LoadArguments {
  LoadTexts given{};

  // `standard` has the defaults that --help shows. Of a race only the settings that scenarios have too.
  void add_to(Command command, const LoadPlan& standard, bool of_race, const std::string& group = {});
  bool has(std::string_view key) const { return given.contains(key); }
};

}  // namespace joust
