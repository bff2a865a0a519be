// SPDX-License-Identifier: MIT
#include "race/model/scenario.hpp"

#include <gtest/gtest.h>

#include "race/scenario_fixture.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ScenarioFile, ACaseSaysOnlyWhatDiffers) {
  const auto scenario = read(R"(
load = { connections = 4000, messages = 300, interval = "10ms" }
matrix = { servers = ["epoll"] }
[[case]]
name = "as published"
[[case]]
name = "no pause"
title = "The same without the pause"
load = { interval = 0, duration = "2s" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  ASSERT_EQ(scenario->cases.size(), 2U);
  EXPECT_EQ(scenario->cases[0].load.messages, 300U);
  EXPECT_EQ(scenario->cases[0].load.interval, milliseconds(10));
  EXPECT_EQ(scenario->cases[1].load.connections, 4000U);
  EXPECT_EQ(scenario->cases[1].load.interval, Duration(0));
  EXPECT_EQ(scenario->cases[1].load.duration, seconds(2));
  EXPECT_FALSE(scenario->cases[1].load.messages);
}

TEST_F(ScenarioFile, ALoadWithoutAnEndLastsASecond) {
  const auto scenario = read(
      "matrix = { servers = [\"epoll\"] }\n"
      "[[case]]\nname = \"plain\"\n"
      "[[case]]\nname = \"counted\"\nload = { messages = 9 }\n"
      "[[case]]\nname = \"long\"\nload = { duration = \"7s\" }\n");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].load.duration, std::chrono::seconds(1));
  EXPECT_EQ(scenario->cases[1].load.window(), std::nullopt);
  EXPECT_EQ(scenario->cases[1].load.messages, 9U);
  EXPECT_EQ(scenario->cases[2].load.duration, std::chrono::seconds(7));
}

TEST_F(ScenarioFile, ACommandHasTheNameOfItsProgram) {
  const auto scenario = read(
      "[[contestant]]\ncommand = \"my-server --port {port}\"\n"
      "[[contestant]]\ncommand = \"A=b exec bin/my-server -q {port}\"\n"
      "[[contestant]]\ncommand = \"(cd x; y {port})\"\n"
      "[[contestant]]\nname = \"mine\"\ncommand = \"z {port}\"\n");
  ASSERT_TRUE(scenario) << scenario.error();
  std::vector<std::string> names;
  for (const Contestant& contestant : scenario->contestants) names.push_back(contestant.name);
  EXPECT_EQ(names, (std::vector<std::string>{"my-server", "my-server#2", "command", "mine"}));
}

TEST_F(ScenarioFile, ACaseHasSocketOptionsOfItsOwn) {
  const auto scenario = read(R"(
load = { duration = "1s" }
socket = { nodelay = true, send_buffer = "64KiB" }
matrix = { servers = ["epoll"] }
[[case]]
name = "as others"
[[case]]
name = "Nagle"
socket = { nodelay = false }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].socket.nodelay, true);
  EXPECT_EQ(scenario->cases[1].socket.nodelay, false);
  EXPECT_EQ(scenario->cases[1].socket.send_buffer_bytes, 65536U);
}

}  // namespace
}  // namespace joust::race
