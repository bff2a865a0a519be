// SPDX-License-Identifier: MIT
#include "race/scenario/own_scenarios.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "race/scenario/toml_reader.hpp"

namespace joust::race {
namespace {

namespace fs = std::filesystem;

constexpr auto kEnding = ".toml";

// Returns the folder of the scenarios: beside the program's folder, or else in the sources. Empty if neither
// exists.
fs::path folder() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  for (const fs::path& candidate :
       {program.parent_path().parent_path() / JOUST_SCENARIOS_INSTALLED, fs::path(JOUST_SCENARIOS_BUILT)})
    if (fs::is_directory(candidate, unknown)) return candidate;
  return {};
}

}  // namespace

std::vector<OwnScenario> own_scenarios() {
  std::vector<OwnScenario> all;
  std::error_code unknown;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder(), unknown)) {
    if (entry.path().extension() != kEnding) continue;
    try {
      const toml::table document = toml::parse_file(entry.path().string());
      all.push_back({.name = entry.path().stem().string(),
                     .title = document["title"].value_or(std::string()),
                     .description = document["description"].value_or(std::string()),
                     .file = entry.path().string()});
    } catch (const toml::parse_error&) {
      continue;
    }
  }
  std::ranges::sort(all, {}, &OwnScenario::name);
  return all;
}

std::string scenario_file(const std::string& word) {
  std::error_code unknown;
  if (fs::exists(word, unknown)) return word;
  const fs::path path(word);
  if (path.has_parent_path() && path.parent_path() != "scenarios") return {};
  const std::string name = path.extension() == kEnding ? path.stem().string() : path.filename().string();
  for (const OwnScenario& own : own_scenarios())
    if (own.name == name) return own.file;
  return {};
}

}  // namespace joust::race
