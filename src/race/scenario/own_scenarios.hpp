// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

// The scenarios that come with joust: where it was installed, or else those of the sources.
namespace joust::race {

struct OwnScenario {
  std::string name{};  // that of its file, without the ending
  std::string title{}, description{};
  std::string file{};
};

// In the order of their names. Files that are no TOML are left out.
std::vector<OwnScenario> own_scenarios();

// The file of a scenario that is asked for: the word itself where there is such a file, or that of the own
// scenario of this name, also as "NAME.toml" or "scenarios/NAME.toml". Otherwise empty.
std::string scenario_file(const std::string& word);

}  // namespace joust::race
