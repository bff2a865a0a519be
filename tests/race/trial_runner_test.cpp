// SPDX-License-Identifier: MIT
#include "race/trials_fixture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "measure/affinity.hpp"
#include "race/fake_catalogue.hpp"
#include "temporary_folder.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(Trials, AGoodTrialHasBothSides) {
  const Trial trial = run("good");
  EXPECT_EQ(trial.failure, "");
  ASSERT_TRUE(trial.measured());
  EXPECT_EQ(trial.load->messages.verified, 10U);
  EXPECT_EQ(trial.server.engine, "good");
  EXPECT_EQ(trial.server.knobs.at("trigger"), "edge");
  EXPECT_EQ(trial.server.bytes_received, 320U);
  EXPECT_EQ(trial.server.notes, (std::vector<std::string>{"a note"}));
  EXPECT_EQ(trial.server.socket.at("nodelay"), "true");
  ASSERT_TRUE(trial.server.usage);
  EXPECT_EQ(trial.server.usage->voluntary_switches, 0U) << "of the window, not of the process's life";
  EXPECT_EQ(trial.server.usage->peak_memory_bytes, 1000000U);
  ASSERT_TRUE(trial.machine);
  EXPECT_GT(trial.machine->total_s(), 0);
  EXPECT_FALSE(trial.pinned) << "it may run on any CPU";
}

TEST_F(Trials, ThePinnedCpusAreLookedAt) {
  const int cpu = allowed_cpus().front();
  cpus.server = cpus.client = fmt::format("{}", cpu);
  const Trial trial = run("good");
  ASSERT_TRUE(trial.measured()) << trial.failure;
  ASSERT_TRUE(trial.pinned && trial.machine);
  EXPECT_GT(trial.machine->total_s(), 0);
  EXPECT_LE(trial.pinned->total_s(), trial.machine->total_s());
}

TEST_F(Trials, BothSidesTellWhatTheyLack) {
  const Trial trial = run("lacks", "lacks");
  ASSERT_TRUE(trial.measured()) << trial.failure;
  EXPECT_EQ(trial.server.missing, (std::vector<std::string>{"a feature"}));
  EXPECT_EQ(trial.load->missing, (std::vector<std::string>{"a feature"}));
  EXPECT_EQ(trial.load->notes, (std::vector<std::string>{"a client's note"}));
}

TEST_F(Trials, SystemCallsAreCountedOrTheReasonIsGiven) {
  Trial trial = run("good", "good", true);
  // On a busy machine both readings may come after the short window, between whose ends the calls are.
  for (int again = 0; again < 9 && trial.client_calls == 0; ++again) trial = run("good", "good", true);
  ASSERT_TRUE(trial.measured()) << trial.failure;
  if (trial.calls_reason.empty()) {
    EXPECT_TRUE(trial.server_calls) << "none: this server does nothing in the window";
    EXPECT_GT(*trial.client_calls, 0);
  } else {
    EXPECT_FALSE(trial.server_calls);
  }
  EXPECT_FALSE(run("good").server_calls) << "only when asked for";
}

TEST_F(Trials, UsageOfAnotherWindowThanTheTimedOneIsNotKnown) {
  lateness = milliseconds(0);
  const Trial trial = run("good", "other-window", true);
  EXPECT_TRUE(trial.measured()) << "its throughput is right all the same";
  EXPECT_TRUE(trial.late);
  EXPECT_FALSE(trial.server.usage);
  EXPECT_FALSE(trial.server_calls);
  EXPECT_NE(trial.calls_reason, "");
}

TEST_F(Trials, TheStampsOfServerAndLoadDecideWhatIsLate) {
  lateness = milliseconds(0);
  const Trial same = run("stamps", "window-1-2");
  ASSERT_TRUE(same.measured()) << same.failure;
  EXPECT_FALSE(same.late) << "whenever this process heard of it";
  EXPECT_TRUE(same.server.usage);
  const Trial other = run("stamps", "window-5-6");
  EXPECT_TRUE(other.late) << "as long, but another one";
  EXPECT_FALSE(other.server.usage);
}

TEST_F(Trials, AServerThatDiesAtStartLeavesItsLastWords) {
  const Trial trial = run("dies-at-start");
  EXPECT_EQ(trial.failure, "the server ended before it could listen: exit code 1");
  EXPECT_EQ(trial.last_words, (std::vector<std::string>{"first words", "last words"}));
  EXPECT_FALSE(trial.measured());
}

TEST_F(Trials, AServerThatNeverListensIsKilled) {
  server_start = milliseconds(100);
  EXPECT_EQ(run("never-listens").failure,
            "the server did not listen within 100 ms (--ready-timeout allows more)");
}

TEST_F(Trials, TheLimitOfATrialIsThatOfItsStartToo) {
  scenario.limits.trial_timeout = milliseconds(150);
  EXPECT_EQ(run("never-listens").failure,
            "the server did not listen within 150 ms (--ready-timeout allows more)");
}

TEST_F(Trials, AServerThatCrashesIsNamedWithItsSignal) {
  const Trial trial = run("crashes");
  EXPECT_EQ(trial.failure, "the server ended in the middle of the trial: signal 11 (Segmentation fault)");
  EXPECT_EQ(trial.last_words, (std::vector<std::string>{"about to crash"}));
}

TEST_F(Trials, AServerThatNeverStopsIsKilled) {
  server_stop = milliseconds(100);
  EXPECT_EQ(run("never-stops").failure, "the server did not stop within 100 ms");
}

TEST_F(Trials, ALoadThatHangsIsKilled) {
  scenario.limits.trial_timeout = std::chrono::seconds(3);
  EXPECT_EQ(run("good", "hangs").failure,
            "the load did not end within 3.00 s and was killed; --trial-timeout allows more");
}

TEST_F(Trials, ALoadWithoutAResultLeavesItsLastWords) {
  const Trial trial = run("good", "gives-up");
  EXPECT_EQ(trial.failure, "the load has no result: exit code 1: cannot go on");
  EXPECT_EQ(trial.last_words, (std::vector<std::string>{"cannot go on"}));
  EXPECT_TRUE(run("good", "garbles").failure.starts_with("the load's result cannot be read"));
}

TEST_F(Trials, ArgumentsThatAChildRefusesAreNoFailureLikeAnother) {
  const Trial load = run("good", "refuses");
  EXPECT_TRUE(load.refused);
  EXPECT_EQ(load.last_words, (std::vector<std::string>{"joust: --output is for one get"}));
  EXPECT_TRUE(run("refuses").refused);
  EXPECT_FALSE(run("dies-at-start").refused);
  EXPECT_FALSE(run("good", "gives-up").refused);
}

TEST_F(Trials, AServerMayTidyUpHoweverItsTrialEnds) {
  const test::TemporaryFolder folder;
  const auto tidied = [&](const char* name) { return std::filesystem::exists(folder.file(name)); };
  run("tidies-up" + folder.file("measured"));
  EXPECT_TRUE(tidied("measured"));
  run("tidies-up" + folder.file("failed"), "gives-up");
  EXPECT_TRUE(tidied("failed"));
  scenario.limits.trial_timeout = seconds(2);
  run("tidies-up" + folder.file("hung"), "hangs");
  EXPECT_TRUE(tidied("hung"));
  scenario.limits.trial_timeout = seconds(20);
  const std::jthread user([&] {
    while (!tidied("interrupted.begun")) std::this_thread::sleep_for(milliseconds(5));
    stop.request();
  });
  EXPECT_TRUE(run("tidies-up" + folder.file("interrupted"), "hangs").interrupted);
  EXPECT_TRUE(tidied("interrupted"));
}

TEST_F(Trials, ALoadThatHadErrorsStillHasAResult) {
  EXPECT_TRUE(run("good", "had-errors").measured());
}

TEST_F(Trials, InProcessThereIsNoServer) {
  entry.in_process = true;
  entry.contestant.server.engine = "good";
  const Trial trial = run_entry();
  ASSERT_TRUE(trial.measured()) << trial.failure;
  EXPECT_FALSE(trial.server.usage);
}

TEST_F(Trials, AnInterruptionEndsARunningTrial) {
  const std::jthread user([this] {
    std::this_thread::sleep_for(milliseconds(200));
    stop.request();
  });
  const Trial trial = run("good", "hangs");
  EXPECT_TRUE(trial.interrupted);
  EXPECT_FALSE(trial.measured());
}

}  // namespace
}  // namespace joust::race
