// SPDX-License-Identifier: MIT
#include "race/scenario/own_scenarios.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "race/scenario/toml_reader.hpp"

namespace joust::race {
namespace {

namespace fs = std::filesystem;

constexpr auto kEnding = ".toml";

}  // namespace

std::vector<OwnScenario> own_scenarios() {
  std::vector<OwnScenario> all;
  const fs::path folder = own_file(JOUST_SCENARIOS_INSTALLED, JOUST_SCENARIOS_BUILT);
  std::error_code unknown;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unknown)) {
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

std::string why_no_scenarios() {
  return "the scenarios that come with joust are missing: " + why_no_own_file(JOUST_SCENARIOS_INSTALLED);
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
