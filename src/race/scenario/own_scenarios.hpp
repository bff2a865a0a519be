// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

// The scenarios that come with joust: the installed ones, or else those of the sources.
namespace joust::race {

// A scenario, as `joust scenarios --json` lists it.
struct OwnScenario {
  std::string name{};  // name of its file, without the ending
  std::string title{}, description{};
  std::string file{};
};

// Returns the scenarios in the order of their names. Leaves out files that are not valid TOML.
std::vector<OwnScenario> own_scenarios();
// Returns why there are none.
std::string why_no_scenarios();

// Returns the path of a scenario's file: the word itself if such a file exists. Otherwise the file of joust's
// own scenario of this name, which may also be written as "NAME.toml" or "scenarios/NAME.toml". Empty if
// neither exists.
std::string scenario_file(const std::string& word);

}  // namespace joust::race
