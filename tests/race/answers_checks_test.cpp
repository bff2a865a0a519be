// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

// 3

void fail_to_verify(Trial& trial) {
  trial.load->errors[static_cast<std::size_t>(Stage::verify)] = 1;
}

TEST_F(Checks, OneWrongReplyAndTheContestantIsNotRanked) {
  bool planted = false;
  runner.alter = [&](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name != "epoll" || std::exchange(planted, true)) return;
    trial.load->messages.failed = 1;
    trial.load->messages.sent += 1;
    fail_to_verify(trial);
    trial.load->messages_of_errors = {"verify: byte 3 is 'x' instead of 'X'"};
  };
  const CheckResult found = check(3);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_EQ(entry(judged, "epoll").reason,
            "1 message failed, errors by stage: verify 1, verify: byte 3 is 'x' instead of 'X'");
  EXPECT_TRUE(entry(judged, "threads").ranked);
  EXPECT_EQ(exit_code(judged), 3) << "it was to be measured";
  EXPECT_EQ(invalid_because(judged), "epoll is not ranked");
  judged.scenario.allow_unranked = true;
  EXPECT_EQ(exit_code(judged), 0) << "the others were measured";
}

TEST_F(Checks, LostDeliveriesOfABroadcast) {
  plant("epoll", [](Trial& trial) {
    trial.load->groups = {deliveries({{"expected", 100}, {"received", 97}, {"lost", 3}, {"duplicated", 0}})};
  });
  const CheckResult found = check(3);
  EXPECT_NE(found.bars.at("epoll").find("deliveries lost"), std::string::npos) << found.detail;
  EXPECT_EQ(found.bars.at("epoll").find("duplicated"), std::string::npos) << found.detail;
}

TEST_F(Checks, AFaultOfTheReferencesSecondEntryIsTheReferences) {
  plant("threads (again)", [](Trial& trial) { fail_to_verify(trial); });
  const CheckResult found = check(3);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_TRUE(found.detail.starts_with("threads (again): errors by stage")) << found.detail;
  EXPECT_FALSE(entry(judged, "threads").ranked);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, AServerThatEndsConnectionsByRepliesIsRanked) {
  plant("epoll", [](Trial& trial) { trial.load->handovers = 100; });
  const CheckResult found = check(3);
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
  EXPECT_NE(found.detail.find("connections ended with a reply of the server"), std::string::npos)
      << found.detail;
}

// 256 connections stand; these had a reply.
void answered(Trial& trial, std::uint64_t connections) {
  trial.load->connections.answered = connections;
  trial.load->oldest_open_ns = std::chrono::milliseconds(1290);
}

TEST_F(Checks, AServerThatStarvesSomeConnectionsForOthersIsNotRanked) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    answered(trial, order.entry.contestant.name == "epoll" && nth == 3 ? 128 : 256);
  };
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
  EXPECT_EQ(entry(judged, "epoll").reason,
            "128 of 256 connections had no reply in the timed window; the oldest request was open for "
            "1.29 s: its latencies leave them out");
  EXPECT_TRUE(entry(judged, "threads").ranked);
}

TEST_F(Checks, AFewSilentConnectionsAreTold) {
  plant("epoll", [](Trial& trial) { answered(trial, 255); });
  const CheckResult found = check(3);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "epoll: 1 of 256 connections had no reply")) << found.detail;
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, AConnectionThatIsNeverServedIsAFault) {
  plant("epoll", [](Trial& trial) {
    answered(trial, 255);
    trial.load->connections.never_answered = 1;
  });
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_TRUE(has(entry(judged, "epoll").reason,
                  "1 of 256 connections had no reply in the timed window, 1 of "
                  "them none before it either"));
}

TEST_F(Checks, ConnectionsThatPauseLongerThanTheWindowAreNotStarved) {
  scenario.cases.front().load.interval = std::chrono::seconds(2);
  plant("epoll", [](Trial& trial) { answered(trial, 128); });
  EXPECT_EQ(check(3).verdict, Verdict::pass);
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
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.load->bytes.total_sent += 1 << 20;
  };
  check(12);
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, AContestantThatAnswersNothingHasNoRank) {
  plant("epoll", [](Trial& trial) {
    trial.load->messages.verified = 0, trial.load->messages.sent = trial.load->messages.in_flight;
  });
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

TEST_F(Checks, WhenNobodyAnsweredRightTheRaceIsInvalid) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { trial.load->connections.failed = 5; };
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, WhenEveryTrialOfAllContestantsFailedTheRaceIsInvalid) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.load.reset();
    trial.failure = "the server ended in the middle of the trial: exit code 0";
  };
  EXPECT_EQ(check(3).verdict, Verdict::refuse);
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, OneCaseWithoutASoundContestantMakesTheRaceInvalid) {
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "other";
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.load_case.name == "other") fail_to_verify(trial);
  };
  check(3);
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, WhereNoContestantCanRunNothingWasMeasured) {
  scenario = fake_scenario({"broken"}, 10);
  check(3);
  EXPECT_EQ(exit_code(judged), 1);
}

// 12

TEST_F(Checks, LostMessagesDoNotBalance) {
  plant("epoll", [](Trial& trial) { trial.load->messages.sent += 7; });
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

TEST_F(Checks, AnIntruderOnTheCpuOfOneSideIsTold) {
  plant("epoll", [](Trial& trial) {
    trial.machine = MachineCpu{.user_s = 1.6, .system_s = 0.4, .idle_s = 62};
    trial.server_cpus = MachineCpu{.user_s = 0.95, .idle_s = 0.05};
    trial.client_cpus = MachineCpu{.user_s = 0.9, .idle_s = 0.1};
  });
  const CheckResult found = check(12);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(found.detail, "used 29 % or more of the client's CPUs in the worst trial (10 of 40 trials above"))
      << found.detail;
}

TEST_F(Checks, ACostWhoseCpuTimeIsLostIsUnknownAndHasNoPlace) {
  runner.alter = [](const TrialOrder& order, std::size_t nth, Trial& trial) {
    if (order.entry.contestant.name == "epoll" && nth == 3) trial.server.cpu_unknown = "at least 1 s is lost";
  };
  const CheckResult found = check(12);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(found.detail, "epoll: the cost of a message is unknown, and not ranked: at least 1 s is lost"))
      << found.detail;
  const Entry& epoll = *find_entry(judged.cases.front(), "epoll");
  EXPECT_FALSE(epoll.summary.server_cpu_us_per_message) << "one trial of ten is enough";
  EXPECT_FALSE(epoll.summary.cost_ratio);
  EXPECT_FALSE(epoll.cost_place);
  EXPECT_TRUE(epoll.place) << "throughput is what it is";
  EXPECT_TRUE(find_entry(judged.cases.front(), "threads")->cost_place);
}

TEST_F(Checks, WhereEndsAreIgnoredBusyCpusMakeTheCostUnknown) {
  const auto ignore = [](double others_s) {
    return [=](Trial& trial) {
      trial.server.ignores_ends = true;
      trial.server_cpus = MachineCpu{.user_s = 0.9 + others_s, .idle_s = 1};
      trial.client_cpus = MachineCpu{.user_s = 0.6, .idle_s = 0.4};
    };
  };
  plant("epoll", ignore(0));
  EXPECT_FALSE(has(check(12).detail, "unknown"));
  plant("epoll", ignore(0.5));
  EXPECT_TRUE(
      has(check(12).detail, "epoll: the cost of a message is unknown, and not ranked: its processes ignore"));
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
