// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "race/run/plan.hpp"
#include "race/scenario/overrides.hpp"
#include "race/scenario/scenario_toml.hpp"
#include "race/scenario_fixture.hpp"

namespace joust::race {
namespace {

class FilesScenario : public ScenarioFile {
 protected:
  static constexpr const char* kCase = R"(
[[case]]
name = "large"
files = { count = 2, size = "1MiB" }
quick = { files = { size = "4KiB" } }
)";
  static constexpr const char* kCopy = R"(
[[contestant]]
name = "cp"
transfer = "cp {from}/* {into}"
)";
  static std::string with(const std::string& keys) {
    return std::string(kCase) + "[[contestant]]\nname = \"x\"\n" + keys;
  }
};

TEST_F(FilesScenario, CommandsThatMoveFilesAreItsContestants) {
  const auto scenario = read(std::string(kCase) + R"(
[[case]]
name = "small"
files = { count = 1_000, size = "16kB", on = "disk" }
[[contestant]]
name = "cp"
transfer = "cp {from}/* {into}"
[[contestant]]
name = "web"
command = "serve {port} {from}"
transfer = "fetch {port} {into}"
needs = ["serve", "fetch"]
cases = ["small"]
)");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].files, (FilePlan{.count = 2, .bytes = 1 << 20}));
  EXPECT_EQ(scenario->cases[1].files, (FilePlan{.count = 1000, .bytes = 16'000, .on = "disk"}));
  EXPECT_EQ(scenario->cases[1].load.messages, 1000);
  const Plan plan = make_plan(*scenario, fake_catalogue(), 1);
  EXPECT_EQ(find_entry(plan.cases[0], "web"), nullptr) << "it takes part in the other case only";
  ASSERT_NE(find_entry(plan.cases[1], "web"), nullptr);
  EXPECT_EQ(plan.cases[1].reference, "cp");
  EXPECT_NE(plan.cases[1].no_ceiling, "");
  EXPECT_FALSE(plan.cases[1].plan.load.turns) << "a command cannot rest";
}

TEST_F(FilesScenario, AQuickCaseChangesOnlyWhatItSays) {
  std::ofstream(path_) << kCase << kCopy;
  const auto scenario = read_scenario(path_, fake_catalogue(), Size::quick);
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].files, (FilePlan{.count = 2, .bytes = 4096}));
}

TEST_F(FilesScenario, WhoMovesNothingIsShownAndNotRanked) {
  const auto scenario = read(with(R"(transfer = "true"
moves_files = false
)") + kCopy);
  ASSERT_TRUE(scenario) << scenario.error();
  const Plan plan = make_plan(*scenario, fake_catalogue(), 1);
  EXPECT_FALSE(find_entry(plan.cases[0], "x")->ranked);
  EXPECT_EQ(find_entry(plan.cases[0], "x")->unavailable, "") << "it runs";
  EXPECT_EQ(plan.cases[0].reference, "cp") << "others are not compared with it";
}

TEST_F(FilesScenario, WhatIsNotInstalledOrDoesNotFitIsARowWithTheReason) {
  const auto scenario = read(with(R"(transfer = "a {from} {into}"
needs = ["here", "gone"]
)") + kCopy);
  ASSERT_TRUE(scenario) << scenario.error();
  Catalogue catalogue = fake_catalogue();
  catalogue.has_program = [](const std::string& name) { return name == "here"; };
  catalogue.no_room = [](const FilePlan& files, std::uint64_t /*beside*/) {
    return files.bytes > 1 << 19 ? "no room" : "";
  };
  const Plan plan = make_plan(*scenario, catalogue, 1);
  EXPECT_EQ(find_entry(plan.cases[0], "x")->unavailable, "unavailable: gone is not installed");
  EXPECT_EQ(find_entry(plan.cases[0], "cp")->unavailable, "no room");
}

TEST_F(FilesScenario, TheFilesOfOtherCasesTakeRoomToo) {
  const auto scenario = read(std::string(kCase) + kCopy + R"(
[[case]]
name = "the same once more"
files = { count = 2, size = "1MiB" }
[[case]]
name = "others"
files = { size = "5MiB" }
[[case]]
name = "too many"
files = { size = "9MiB" }
[[case]]
name = "elsewhere"
files = { size = "7MiB", on = "disk" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  Catalogue catalogue = fake_catalogue();
  std::map<FilePlan, std::uint64_t> beside;
  catalogue.no_room = [&](const FilePlan& files, std::uint64_t bytes) {
    beside[files] = std::max(beside[files], bytes);
    return files.bytes == 9 << 20 ? "no room" : "";
  };
  make_plan(*scenario, catalogue, 1);
  ASSERT_EQ(beside.size(), 4U);
  const std::uint64_t of_large = beside[{.count = 2, .bytes = 1 << 20}];
  EXPECT_GE(of_large, 5U << 20);
  EXPECT_LT(of_large, 6U << 20) << "what does not fit is never there";
  EXPECT_GE((beside[{.count = 1, .bytes = 5 << 20}]), 2U << 20);
  EXPECT_EQ((beside[{.count = 1, .bytes = 7 << 20, .on = "disk"}]), 0U);
}

TEST_F(FilesScenario, AContestantOfACaseTakesPartInAllThatStandForIt) {
  for (const char* each :
       {"sweep = { connections = [1, 2] }", "load = { rates = [100, 200], duration = \"1s\" }"}) {
    auto scenario = read(std::string("load = { duration = \"1s\" }\n[[case]]\nname = \"small\"\n") + each +
                         "\n[[case]]\nname = \"other\"\n"
                         "[[contestant]]\nserver = \"epoll\"\n"
                         "[[contestant]]\nserver = \"threads\"\ncases = [\"small\"]\n");
    ASSERT_TRUE(scenario) << scenario.error();
    const auto applied =
        apply({.servers = {}, .clients = {}, .own = {{"rounds", "3"}}}, *scenario, fake_catalogue());
    ASSERT_TRUE(applied) << applied.error();
    const Plan plan = make_plan(*scenario, fake_catalogue(), 1);
    ASSERT_EQ(plan.cases.size(), 3U);
    for (const CaseResult& one : plan.cases)
      EXPECT_EQ(find_entry(one, "threads") != nullptr, one.plan.name != "other") << one.plan.name;
  }
}

TEST_F(FilesScenario, WhatCannotBeSoIsSaid) {
  EXPECT_EQ(
      problem(with("transfer = \"cp {from}\"\n")),
      "8:1: key 'contestant.transfer': nothing moves the files; allowed: shell commands with {from} and "
      "{into} in one of them");
  EXPECT_EQ(problem(with("transfer = \"cp {from}/{las} {into}\"\n")),
            "8:1: key 'contestant.transfer': it is not filled in; did you mean {last}?");
  EXPECT_EQ(problem(with("transfer = \"ls {from} | awk '{print}' >{into}/${FROM}\"\n")), "no problem");
  EXPECT_EQ(problem(with("transfer = \"cp {from} {into}\"\nserver = \"epoll\"\n")),
            "8:1: key 'contestant.transfer': given beside server; allowed: one of them");
  EXPECT_EQ(problem(with("transfer = \"cp {from} {into}\"\nneeds = 3\n")),
            "9:1: key 'contestant.needs': wrong type; allowed: a text, or a list of texts");
  EXPECT_EQ(problem(with("server = \"epoll\"\n")),
            "6:3: key 'contestant': 'x' takes part in no case; allowed: a transfer, for cases with files");
  EXPECT_EQ(problem(with("transfer = \"cp {from} {into}\"\ncases = [\"lage\"]\n")),
            "6:3: key 'contestant': 'x' takes part in 'lage', which is no case; allowed: large; did you mean "
            "'large'?");
  EXPECT_EQ(problem("[[case]]\nname = \"x\"\nfiles = { count = 3 }\n" + std::string(kCopy)),
            "3:1: key 'case.files': how large? allowed: { size = \"1GB\", ... }");
  EXPECT_EQ(
      problem("[[case]]\nname = \"x\"\nfiles = { size = 1 }\nload = { depth = 2 }\n" + std::string(kCopy)),
      "4:1: key 'case.load': given beside files; allowed: one of them, as whole commands move the files");
}

TEST_F(FilesScenario, FlagsOfALoadAreRefused) {
  auto scenario = read(std::string(kCase) + kCopy);
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_TRUE(apply({.servers = {}, .clients = {}, .own = {{"rounds", "3"}}}, *scenario, fake_catalogue()));
  const auto applied =
      apply({.servers = {}, .clients = {}, .load = {{"connections", "3"}}}, *scenario, fake_catalogue());
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error(), "--connections: the contestants of " + path_ +
                                 " move files by commands of their own; leave it out");
}

}  // namespace
}  // namespace joust::race
