// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <expected>
#include <fstream>
#include <string>

#include "race/fake_catalogue.hpp"
#include "race/scenario/scenario_toml.hpp"
#include "temporary_folder.hpp"

namespace joust::race {

// Reads scenarios from a file.
class ScenarioFile : public testing::Test {
 protected:
  std::expected<Scenario, std::string> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_scenario(path_, fake_catalogue());
  }

  // The message with the file's name taken off: "LINE:COLUMN: key ...".
  std::string problem(const std::string& text) {
    const auto scenario = read(text);
    if (scenario) return "no problem";
    std::string message = scenario.error();
    for (std::size_t at; (at = message.find(path_ + ":")) != std::string::npos;)
      message.erase(at, path_.size() + 1);
    return message;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.file("scenario_test.toml");
};

}  // namespace joust::race
