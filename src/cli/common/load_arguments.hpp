// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command.hpp"
#include "load/settings.hpp"

namespace joust {

// The flags of a load, one for each row of load_settings(). After parsing, `given` has the given values.
struct LoadArguments {
  LoadTexts given{};

  // Adds the flags. `standard` has the defaults that --help shows. A race has only the flags of settings that
  // scenarios have too.
  void add_to(Command command, const LoadPlan& standard, bool of_race, const std::string& group = {});
  bool has(std::string_view key) const { return given.contains(key); }
};

}  // namespace joust
