// SPDX-License-Identifier: MIT
#include "race/scenario/shell_command.hpp"

#include <gtest/gtest.h>

namespace joust::race {
namespace {

TEST(CommandValues, EachIsFilledInWhereverItStands) {
  const CommandValues values{
      .port = "80", .from = "/a", .into = "/b", .last = "c", .bytes = "9", .joust = "/usr/bin/joust"};
  EXPECT_EQ(filled("{port} {from} {into} {last} {bytes} {joust} {port}", values),
            "80 /a /b c 9 /usr/bin/joust 80");
  EXPECT_EQ(filled("--bind {address}", {}), "--bind 127.0.0.1");
  EXPECT_EQ(filled("--bind {address}", {.address = "10.0.0.1"}), "--bind 10.0.0.1") << "over several hosts";
}

TEST(CommandValues, AServerWithoutAPlaceForThePortGetsItInAVariable) {
  EXPECT_EQ(server_command("my-server -p {port}", {.port = "80"}), "my-server -p 80");
  EXPECT_EQ(server_command("exec my-server", {.port = "80"}), "export PORT=80; exec my-server");
}

TEST(CommandValues, TextThatIsFilledInIsNotFilledInAgain) {
  EXPECT_EQ(filled("{from}", {.port = "80", .from = "{from}"}), "{from}");
}

TEST(CommandValues, TheFolderOfTheScenarioIsOneWordForAShell) {
  EXPECT_EQ(with_folder("exec {here}/server {port}", "/a/b/c.toml"), "exec /a/b/server {port}");
  EXPECT_EQ(with_folder("{here}/s {here}", "/a b/c.toml"), "'/a b'/s '/a b'");
  EXPECT_TRUE(with_folder("{here}", "c.toml").starts_with("/")) << "from wherever the command is run";
  EXPECT_EQ(misspelt_name("exec {her}/server"), "{here}");
}

TEST(CommandValues, AProgramOfTheSourcesIsKnown) {
  const std::string own = JOUST_SOURCE_DIR "/scenarios/plain-programs.toml";
  EXPECT_TRUE(is_built_program(with_folder("exec {here}/../build/release/benchmarks/a {port}", own), own));
  EXPECT_FALSE(is_built_program(with_folder("exec {here}/server {port}", own), own));
  EXPECT_FALSE(is_built_program("build/release/benchmarks/a {port}", "")) << "of --command";
  EXPECT_FALSE(is_built_program(with_folder("exec {here}/../build/server {port}", "/a/b.toml"), "/a/b.toml"));
}

TEST(CommandValues, AnotherWordInBracesIsTheShells) {
  EXPECT_EQ(misspelt_name("cp {from}/* {into}"), "");
  EXPECT_EQ(misspelt_name("awk '{print}' ${intro} {a,b}"), "");
}

TEST(CommandValues, AWordThatIsNearlyOneIsNamed) {
  EXPECT_EQ(misspelt_name("cp {fron} {into}"), "{from}");
}

}  // namespace
}  // namespace joust::race
