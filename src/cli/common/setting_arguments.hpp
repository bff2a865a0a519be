// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "cli/common/command.hpp"
#include "joust/load_plan.hpp"

namespace joust {
namespace race {
struct Scenario;
}

// The flags of settings, one for each row. After parsing, `given` has the texts of those that are given.
struct SettingArguments {
  SettingTexts given{};

  bool has(std::string_view key) const { return given.contains(key); }

  // Adds the flags of a load. `standard` has the defaults that --help shows. A race has only the flags of
  // settings that scenarios have too.
  void add_load(Command command, const LoadPlan& standard, bool of_race, const std::string& group = {});
  // Adds the flag of one of a race's own settings below the heading of its row. What fractions and texts may
  // be is checked when all flags are known.
  void add_own(Command command, const Setting& row, const race::Scenario& standard);

 private:
  // Returns what is wrong with a text; empty: nothing.
  using Check = std::string (*)(const Setting&, const std::string& text);
  Option add(Command command, const Setting& row, const std::string& help, Check check);
};

}  // namespace joust
