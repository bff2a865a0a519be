// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"

namespace joust::race {
namespace {

TEST_F(Checks, AFlawlessRacePassesAllOfThem) {
  RaceResult result = race();
  judge(result);
  std::vector<int> ids;
  for (const CheckResult& check : result.cases.front().checks) {
    ids.push_back(check.id);
    EXPECT_EQ(check.verdict, Verdict::pass) << check.id << ": " << check.detail;
    EXPECT_FALSE(check.title.empty());
    EXPECT_FALSE(check.detail.empty()) << check.id;
  }
  EXPECT_EQ(ids, (std::vector<int>{1, 3, 4, 5, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(exit_code(result), 0);
}

// 1

TEST_F(Checks, AContestantNearTheGeneratorsCeilingIsNotRanked) {
  runner.otherwise = 140e3;
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(found.invalidates);
  EXPECT_FALSE(entry(judged, "io-uring").ranked);
  EXPECT_TRUE(entry(judged, "io-uring").at_least);
  EXPECT_TRUE(has(entry(judged, "io-uring").reason, "at least 106k")) << entry(judged, "io-uring").reason;
  EXPECT_TRUE(entry(judged, "epoll").ranked);
  EXPECT_FALSE(entry(judged, "io-uring").tie_group);
}

TEST_F(Checks, AnIntervalIsACeilingToo) {
  scenario.cases.front().load.interval =
      std::chrono::milliseconds(2);  // 256 connections: 128k messages/s at most
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_TRUE(has(entry(judged, "io-uring").reason, "the interval between messages allows"));
}

TEST_F(Checks, ASaturatedClientBesideAnIdleServerIsTold) {
  plant("epoll", [](Trial& trial) {
    trial.load->usage.user_s = 0.4, trial.load->usage.system_s = 0.59;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
  });
  const CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(found.detail, "epoll: the client was the limit (99 % of its CPU in use, the server's 50 %)"))
      << found.detail;
  EXPECT_TRUE(entry(judged, "epoll").at_least);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, OfSpinningSidesNobodyKnowsWhichWasTheLimit) {
  for (Contestant& contestant : scenario.contestants) contestant.server.wait = "spin";
  plant("epoll", [](Trial& trial) {
    trial.load->usage.user_s = 0.4, trial.load->usage.system_s = 0.59;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
  });
  EXPECT_TRUE(has(check(1).detail, "spinning"));
  EXPECT_FALSE(entry(judged, "epoll").at_least);
}

TEST_F(Checks, TimeThatNeighboursTookIsNotIdleTime) {
  plant("epoll", [](Trial& trial) {
    trial.load->usage.user_s = 0.4, trial.load->usage.system_s = 0.39;
    trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    trial.machine->steal_s = trial.machine->total_s() / 4;  // 20 % of what there is then
  });
  EXPECT_TRUE(has(check(1).detail, "epoll: the client was the limit"));
}

TEST_F(Checks, TheGeneratorItselfIsNoServer) {
  scenario = fake_scenario({"null", "epoll"}, 10);
  check(1);
  EXPECT_FALSE(entry(judged, "null").ranked);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

// 3

TEST_F(Checks, OneWrongReplyAndTheContestantIsNotRanked) {
  bool planted = false;
  runner.alter = [&](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name != "epoll" || std::exchange(planted, true)) return;
    trial.load->failed = 1;
    trial.load->sent += 1;
    trial.load->errors["verify"] = 1;
    trial.load->messages_of_errors = {"verify: byte 3 is 'x' instead of 'X'"};
  };
  const CheckResult found = check(3);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_EQ(entry(judged, "epoll").reason,
            "1 message failed, errors by stage: verify 1, verify: byte 3 is 'x' instead of 'X'");
  EXPECT_TRUE(entry(judged, "threads").ranked);
  EXPECT_EQ(exit_code(judged), 0) << "the others were measured";
}

TEST_F(Checks, AFaultOfTheReferencesSecondEntryIsTheReferences) {
  plant("threads (again)", [](Trial& trial) { trial.load->errors["verify"] = 1; });
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "threads").ranked);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, FaultsOfTheSecondEntryAreNeverChargedToTheNextReference) {
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (!order.entry.contestant.name.starts_with("threads")) return;
    trial.load.reset();
    trial.failure = "it hung";
  };
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_EQ(judged.cases.front().reference, "epoll") << "the first that has a result";
  EXPECT_TRUE(entry(judged, "epoll").ranked) << entry(judged, "epoll").reason;
  EXPECT_EQ(entry(judged, "threads").reason, "2 of 2 trials failed: it hung");
  EXPECT_EQ(second_entry(judged.cases.front()), nullptr) << "nobody repeats epoll";
}

TEST_F(Checks, FiguresOfWhichNoneMayBeComparedAreInvalid) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { trial.load->run_bytes_sent += 1 << 20; };
  check(12);
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, AContestantThatAnswersNothingHasNoRank) {
  plant("epoll", [](Trial& trial) { trial.load->verified = 0, trial.load->sent = trial.load->in_flight; });
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_EQ(entry(judged, "epoll").reason, "not one reply in the timed window of 10 of 10 trials");
  EXPECT_FALSE(entry(judged, "epoll").summary.throughput_per_s);
}

TEST_F(Checks, ACrashIsReportedWithItsWords) {
  plant("epoll", [](Trial& trial) {
    trial.load.reset();
    trial.failure = "the server was ended by signal 11 (Segmentation fault)";
  });
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_EQ(entry(judged, "epoll").reason,
            "2 of 2 trials failed: the server was ended by signal 11 (Segmentation fault)");
}

TEST_F(Checks, WhenNobodyAnsweredRightTheRaceHasFailed) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { trial.load->connections_failed = 5; };
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_EQ(exit_code(judged), 1);
}

// 10

TEST_F(Checks, ADebugBuildIsRefused) {
  plant("epoll", [](Trial& trial) { trial.server.build.type = "Debug"; });
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_TRUE(found.invalidates);
  EXPECT_TRUE(has(found.detail, "a Debug build")) << found.detail;
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, ASanitizedBuildIsRefused) {
  plant("epoll", [](Trial& trial) { trial.load->build.sanitizers = "address,undefined"; });
  EXPECT_TRUE(check(10).invalidates);
}

TEST_F(Checks, DifferentSocketOptionsAreRefused) {
  plant("epoll", [](Trial& trial) { trial.server.socket["congestion"] = "bbr"; });
  const CheckResult found = check(10);
  EXPECT_TRUE(found.invalidates);
  EXPECT_TRUE(has(found.detail, "congestion: bbr for epoll, cubic for io-uring and threads")) << found.detail;
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, AnOptionTheKernelDidNotGrantIsTold) {
  scenario.socket.congestion = "bbr";
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "congestion is cubic where the scenario asked for bbr")) << found.detail;
}

TEST_F(Checks, AnEngineThatFellBackIsNotRanked) {
  plant("io-uring", [](Trial& trial) { trial.server.engine = "epoll"; });
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(found.invalidates);
  EXPECT_EQ(entry(judged, "io-uring").reason, "its server fell back from io-uring to epoll");
  EXPECT_FALSE(entry(judged, "io-uring").ranked);
}

TEST_F(Checks, AKnobThatWasNotHonouredIsAFallback) {
  scenario.contestants[1].server.knobs["trigger"] = "level";
  plant("epoll", [](Trial& trial) { trial.server.knobs["trigger"] = "edge"; });
  check(10);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, OtherThreadsThanAskedForAreTold) {
  plant("epoll", [](Trial& trial) { trial.server.threads = 2; });
  EXPECT_EQ(check(10).verdict, Verdict::warn);
}

TEST_F(Checks, AnExternalServerCannotBeReadBack) {
  scenario.contestants[1] = {
      .name = "other", .server = {}, .command = "x {port}", .client = {.engine = "epoll"}};
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(entry(judged, "other").ranked);
}

// 11

TEST_F(Checks, ASlowClockIsTold) {
  RaceResult result = race();
  result.environment.items[1].value = "hpet";
  EXPECT_EQ(check(11, std::move(result)).verdict, Verdict::warn);
}

TEST_F(Checks, ALoopbackRaceSaysSo) {
  EXPECT_TRUE(has(check(11).detail, "no network was measured"));
}

TEST_F(Checks, AMissingFingerprintIsTold) {
  RaceResult result = race();
  result.environment.items.clear();
  EXPECT_EQ(check(11, std::move(result)).verdict, Verdict::warn);
}

// 12

TEST_F(Checks, LostMessagesDoNotBalance) {
  plant("epoll", [](Trial& trial) { trial.load->sent += 7; });
  const CheckResult found = check(12);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_TRUE(has(entry(judged, "epoll").reason, "is not verified")) << entry(judged, "epoll").reason;
}

TEST_F(Checks, LostBytesDoNotBalance) {
  plant("epoll", [](Trial& trial) { *trial.server.bytes_received -= 256 * 32 + 1; });
  EXPECT_EQ(check(12).verdict, Verdict::refuse);
  EXPECT_TRUE(has(entry(judged, "epoll").reason, "the client sent")) << entry(judged, "epoll").reason;
}

TEST_F(Checks, BytesOnTheirWayAtTheEndAreNoLoss) {
  plant("epoll", [](Trial& trial) { *trial.server.bytes_sent += 200 * 32; });
  EXPECT_EQ(check(12).verdict, Verdict::pass);
}

TEST_F(Checks, StrangersOnTheMachineAreTold) {
  plant("epoll", [](Trial& trial) { trial.machine->user_s += 0.5; });
  const CheckResult found = check(12);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "not part of the race")) << found.detail;
}

TEST_F(Checks, UsageThatWasReadTooLateIsTold) {
  plant("epoll", [](Trial& trial) {
    trial.late = true;
    trial.server.usage.reset();
  });
  const CheckResult found = check(12);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "in 10 trials the server's usage could not be read in time")) << found.detail;
}

TEST_F(Checks, MoreCpuThanTheMachineGaveIsTold) {
  plant("epoll", [](Trial& trial) { trial.server.usage->system_s += 0.5; });
  EXPECT_EQ(check(12).verdict, Verdict::warn);
}

}  // namespace
}  // namespace joust::race
