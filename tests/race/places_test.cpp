// SPDX-License-Identifier: MIT
#include "race/scenario/places.hpp"

#include <gtest/gtest.h>

namespace joust::race {
namespace {

TEST(Places, EachIsFilledInWhereverItStands) {
  const Places places{
      .port = "80", .from = "/a", .into = "/b", .last = "c", .bytes = "9", .joust = "/usr/bin/joust"};
  EXPECT_EQ(filled("{port} {from} {into} {last} {bytes} {joust} {port}", places),
            "80 /a /b c 9 /usr/bin/joust 80");
}

TEST(Places, AServerWithoutAPlaceForThePortGetsItInAVariable) {
  EXPECT_EQ(server_command("my-server -p {port}", {.port = "80"}), "my-server -p 80");
  EXPECT_EQ(server_command("exec my-server", {.port = "80"}), "export PORT=80; exec my-server");
}

TEST(Places, TextThatIsFilledInIsNotFilledInAgain) {
  EXPECT_EQ(filled("{from}", {.port = "80", .from = "{from}"}), "{from}");
}

TEST(Places, TheFolderOfTheScenarioIsOneWordForAShell) {
  EXPECT_EQ(with_folder("exec {here}/server {port}", "/a/b/c.toml"), "exec /a/b/server {port}");
  EXPECT_EQ(with_folder("{here}/s {here}", "/a b/c.toml"), "'/a b'/s '/a b'");
  EXPECT_TRUE(with_folder("{here}", "c.toml").starts_with("/")) << "from wherever the command is run";
  EXPECT_EQ(misspelt_place("exec {her}/server"), "{here}");
}

TEST(Places, AnotherWordInBracesIsTheShells) {
  EXPECT_EQ(misspelt_place("cp {from}/* {into}"), "");
  EXPECT_EQ(misspelt_place("awk '{print}' ${intro} {a,b}"), "");
}

TEST(Places, AWordThatIsNearlyOneIsNamed) {
  EXPECT_EQ(misspelt_place("cp {fron} {into}"), "{from}");
}

}  // namespace
}  // namespace joust::race
