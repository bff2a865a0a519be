// SPDX-License-Identifier: MIT
#include "race/trial/transfer_trial.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "race/fake_catalogue.hpp"
#include "race/trial/trial_runner.hpp"

namespace joust::race {
namespace {

// Real commands, with real files.
class Transfers : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = no_room_for({.count = 3, .bytes = 40'000}, 0); !reason.empty())
      GTEST_SKIP() << reason;
  }
  Transfers() {
    scenario.cases.front().files = FilePlan{.count = 3, .bytes = 40'000};
    scenario.cases.front().load.messages = 3;
  }

  Trial run(const std::string& transfer, const std::string& command = "") {
    entry.contestant.transfer = transfer;
    entry.contestant.command = command;
    Trial trial;
    {
      ProcessRunner runner({.scenario = scenario, .cpus = {.server = "any", .client = "any"}, .stop = stop});
      trial = runner.run({.load_case = scenario.cases.front(), .entry = entry});
    }
    return trial;
  }
  // What was wrong with what arrived.
  std::string complaint(const std::string& transfer) {
    const Trial trial = run(transfer);
    EXPECT_FALSE(trial.measured());
    if (!trial.load) return trial.failure;
    EXPECT_EQ(trial.load->messages.failed, 3U);
    return trial.load->messages_of_errors.empty() ? "" : trial.load->messages_of_errors.front();
  }

  Scenario scenario = fake_scenario({"epoll"});
  Entry entry;
  Stop stop;
};

TEST_F(Transfers, AWholeCommandIsTimedAndEveryByteCompared) {
  const Trial trial = run("sleep 0.2; cp {from}/* {into}");
  ASSERT_TRUE(trial.measured()) << trial.failure;
  EXPECT_EQ(trial.load->messages.verified, 3U);
  EXPECT_GE(trial.load->duration_s, 0.2);
  EXPECT_NEAR(*trial.mb_per_s(), 3 * 0.04 / trial.load->duration_s, 1e-9);
  EXPECT_FALSE(trial.server.usage) << "there is no server";
}

TEST_F(Transfers, TheTimeOfTheCommandAndItsChildrenIsKnown) {
  const Trial trial = run("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; cp {from}/* {into}");
  ASSERT_TRUE(trial.measured()) << trial.failure;
  const LoadResult::Cpu& used = trial.load->cpu;
  EXPECT_GT(used.user_s + used.system_s, 0.01);
  EXPECT_LE(used.user_s + used.system_s, trial.load->duration_s * 1.1 + 0.01);
}

TEST_F(Transfers, WhatArrivesWrongIsNoResult) {
  EXPECT_EQ(complaint("true"), "0 of 3 files arrived");
  EXPECT_EQ(complaint("cp {from}/* {into}; rm {into}/00001"), "2 of 3 files arrived");
  EXPECT_EQ(complaint("cp {from}/* {into}; printf x | dd of={into}/00002 seek=39999 bs=1 conv=notrunc"),
            "00002 in the target differs from the file");
  EXPECT_EQ(complaint("cp {from}/* {into}; printf x >> {into}/{last}"),
            "00002 in the target differs from the file");
  EXPECT_EQ(complaint("cp {from}/* {into}; mkfifo {into}/00003"),
            "the target has '00003', which is none of the files");
  EXPECT_EQ(complaint("cp {from}/* {into}; rm {into}/00000; ln -s {from}/00000 {into}/00000"),
            "00000 is no file in the target");
}

TEST_F(Transfers, WhatLeadsBackToTheSourceIsNoCopy) {
  const std::string replaced = "the command has put something else in the place of the folder {into}";
  EXPECT_EQ(complaint("rmdir {into} && ln -s {from} {into}"), replaced);
  EXPECT_EQ(complaint("mv {into} {into}.x && mkdir {into} && cp {from}/* {into}"), replaced);
  EXPECT_NE(complaint("ln {from}/* {into}"), "");
}

// The race notices a link to a file by the times of the source; here they are kept.
TEST(MovedFiles, KnowTheirOwnFilesInTheTarget) {
  MovedFiles files({.count = 1, .bytes = 10});
  const std::string into = files.fresh_target();
  std::filesystem::create_hard_link(files.from() + "/00000", into + "/00000");
  EXPECT_EQ(files.difference(), "00000 in the target is the source itself, and no copy");
}

TEST_F(Transfers, ACommandThatChangesWhatItMovesFailsAlone) {
  ProcessRunner runner({.scenario = scenario, .cpus = {.server = "any", .client = "any"}, .stop = stop});
  const auto failure = [&](const std::string& transfer) {
    entry.contestant.transfer = transfer;
    return runner.run({.load_case = scenario.cases.front(), .entry = entry}).failure;
  };
  EXPECT_EQ(failure("sleep 0.05; echo XX | dd of={from}/00001 conv=notrunc; cp {from}/* {into}"),
            "the command has changed 00001 where it came from");
  EXPECT_EQ(failure("cp {from}/* {into}"), "") << "the files are as they were";
  EXPECT_NE(failure("mv {from}/* {into}"), "");
  EXPECT_EQ(failure("cp -p {from}/* {into}"), "");
}

TEST_F(Transfers, ACommandThatFailsIsAFailure) {
  EXPECT_EQ(complaint("cp {from}/* {into}; exit 3"), "the transfer failed: exit code 3");
  EXPECT_EQ(complaint("cp {from}/* {into}; kill -9 $$"), "the transfer failed: signal 9 (Killed)");
}

TEST_F(Transfers, AFolderThatIsGoneIsAFailureOfTheTrial) {
  EXPECT_NE(complaint("rm -r {into}").find("No such file or directory"), std::string::npos);
}

TEST_F(Transfers, ACommandThatDoesNotEndIsKilled) {
  scenario.limits.trial_timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(complaint("sleep 60"),
            "the transfer did not end within 300 ms and was killed; trial_timeout allows more");
}

TEST_F(Transfers, AServerRunsBesideTheCommandAndIsNotTimed) {
  const std::string server =
      "sleep 2; exec python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", {port})); "
      "time.sleep(60)'";
  const Trial trial = run("cp {from}/* {into}; sleep 0.1", server);
  ASSERT_TRUE(trial.measured()) << trial.failure;
  EXPECT_TRUE(trial.server.usage);
  EXPECT_LT(trial.load->duration_s, 1.9) << "its start is not part of it";
}

TEST_F(Transfers, AServerThatDoesNotStartIsAFailure) {
  const Trial trial = run("true", "echo {port} >&2; exit 4");
  EXPECT_TRUE(
      trial.failure.starts_with("the server ended before it could accept a connection on 127.0.0.1:"));
  EXPECT_TRUE(trial.failure.ends_with(": exit code 4")) << trial.failure;
}

TEST(MovedFiles, LeaveNothingBehind) {
  std::string from, into;
  {
    MovedFiles files({.count = 2, .bytes = 10});
    from = files.from();
    into = files.fresh_target();
    EXPECT_TRUE(std::filesystem::exists(from + "/00001"));
    EXPECT_TRUE(std::filesystem::is_empty(into));
    const std::filesystem::directory_iterator beside(std::filesystem::path(into).parent_path());
    EXPECT_EQ(std::distance(beside, {}), 1) << "nothing else is left of the preparations";
    files.remove_target();
    EXPECT_FALSE(std::filesystem::exists(into));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(from).parent_path()));
}

TEST(MovedFiles, DoNotFitWhereThereIsNoRoom) {
  EXPECT_EQ(no_room_for({.count = 1, .bytes = 1000}, 0), "");
  EXPECT_NE(no_room_for({.count = 1, .bytes = 1000}, kMostBytesOfFiles).find("/dev/shm has room for "),
            std::string::npos);
}

}  // namespace
}  // namespace joust::race
