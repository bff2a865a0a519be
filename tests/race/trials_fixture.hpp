// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>

#include "race/fake_catalogue.hpp"
#include "race/trial/trial_runner.hpp"

namespace joust::race {

inline std::size_t open_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  std::size_t count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

// Real processes, but of a program that only speaks as the children do. Each test ends with descriptors and
// children back where they were.
class Trials : public testing::Test {
 protected:
  void SetUp() override { before_ = open_descriptors(); }
  void TearDown() override {
    EXPECT_EQ(open_descriptors(), before_);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  Trial run(const std::string& server, const std::string& client = "good", bool count_calls = false) {
    entry.contestant.server.engine = server;
    entry.contestant.client.engine = client;
    return run_entry(count_calls);
  }

  Trial run_entry(bool count_calls = false) {
    ProcessRunner runner(
        {.scenario = scenario,
         .cpus = cpus,
         .stop = stop,
         .program = JOUST_PYTHON,
         .first_words = {"python3", std::string(JOUST_SOURCE_DIR) + "/tests/race/fake_child.py"},
         .server_start = server_start,
         .server_stop = server_stop,
         .lateness = lateness});
    return runner.run({.load_case = scenario.cases.front(), .entry = entry, .count_calls = count_calls});
  }

  Scenario scenario = fake_scenario({"good"});
  CpuPlan cpus{.server = "any", .client = "any"};
  Entry entry;
  Stop stop;
  Duration server_start = std::chrono::seconds(20), server_stop = std::chrono::seconds(20),
           lateness = std::chrono::seconds(20);

 private:
  std::size_t before_ = 0;
};

}  // namespace joust::race
