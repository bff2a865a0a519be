// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <regex>
#include <thread>

#include "base/fd.hpp"
#include "race/trials_fixture.hpp"
#include "temporary_folder.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A server of somebody else, which knows nothing of the child protocol.
constexpr const char* kOtherServer =
    "import socket, sys\n"
    "s = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
    "while True: c = s.accept()[0]\n";

class ExternalTrials : public Trials {
 protected:
  ExternalTrials() {
    std::ofstream(script_) << kOtherServer;
    entry.contestant = {.name = "other", .command = command(" {port}"), .client = {.engine = "good"}};
  }

  std::string command(const std::string& arguments) const {
    return std::string(JOUST_PYTHON) + " " + script_ + arguments;
  }

  static std::string without_port(const std::string& words) {
    return std::regex_replace(words, std::regex(R"((127\.0\.0\.1|\[::1\]):\d+)"), "$1:PORT");
  }

  const test::TemporaryFolder folder_;
  const std::string script_ = folder_.file("other_server.py");
};

TEST_F(ExternalTrials, ItsWholeProcessTreeIsMeasured) {
  // Behind a shell that stays, so that the server is not the process we started.
  entry.contestant.command = "true && " + command(" {port}") + "; true";
  const Trial trial = run_entry();
  ASSERT_TRUE(trial.measured()) << trial.failure;
  ASSERT_TRUE(trial.server.usage);
  EXPECT_GT(trial.server.usage->peak_memory_bytes, 4'000'000U) << "a shell alone is smaller";
  EXPECT_FALSE(trial.server.bytes_received);
}

TEST_F(ExternalTrials, OneThatCannotStartLeavesItsLastWords) {
  entry.contestant.command = "echo no such thing {port} >&2; exit 3";
  const Trial trial = run_entry();
  EXPECT_EQ(without_port(trial.failure),
            "the server ended before it could accept a connection on 127.0.0.1:PORT: exit code 3");
  ASSERT_EQ(trial.last_words.size(), 1U);
  EXPECT_TRUE(trial.last_words.front().starts_with("no such thing "));
}

TEST_F(ExternalTrials, WhatItsExitCodeMeansIsItsOwnAffair) {
  entry.contestant.command = "exit 2 # {port}";
  EXPECT_FALSE(run_entry().refused);
}

TEST_F(ExternalTrials, OneThatNeverListensIsKilledWithAllItHasStarted) {
  server_start = milliseconds(150);
  entry.contestant.command = "sleep 60 & sleep 60 # {port}";
  EXPECT_EQ(without_port(run_entry().failure),
            "the server did not accept a connection on 127.0.0.1:PORT within 150 ms (--ready-timeout "
            "allows more)");
}

TEST_F(ExternalTrials, OneThatGoesIntoTheBackgroundIsMeasuredAndEnded) {
  entry.contestant.command = "(setsid " + command(" {port}") + " &) ; exit 0";
  const Trial trial = run_entry();
  ASSERT_TRUE(trial.measured()) << trial.failure;
  ASSERT_TRUE(trial.server.usage);
  EXPECT_GT(trial.server.usage->peak_memory_bytes, 4'000'000U);
}

TEST_F(ExternalTrials, OneThatListensElsewhereIsToldWhere) {
  server_start = seconds(2);
  std::ofstream(script_) << "import socket, sys, time\n"
                            "s = socket.create_server(('::1', int(sys.argv[1])), family=socket.AF_INET6)\n"
                            "time.sleep(60)\n";
  const std::string failure = without_port(run_entry().failure);
  if (!failure.contains("::1")) GTEST_SKIP() << "this machine has no IPv6: " << failure;
  EXPECT_EQ(
      failure,
      "the server did not accept a connection on 127.0.0.1:PORT within 2.00 s (--ready-timeout allows more); "
      "it listens on [::1]:PORT, and its port is given by {port}, or else by the variable PORT");
}

// The command asks this process to listen in its place.
TEST_F(ExternalTrials, AServerThatTheCommandHasNotStartedIsRefused) {
  const std::string wish = folder_.file("wish");
  entry.contestant.command = "echo {port} > " + wish + "; sleep 60";
  Fd listener;
  const std::jthread other([&](const std::stop_token& over) {
    unsigned port = 0;
    while (!over.stop_requested() && !(std::ifstream(wish) >> port))
      std::this_thread::sleep_for(milliseconds(1));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener.get(), 16);
  });
  EXPECT_EQ(without_port(run_entry().failure),
            "no process that the command has started listens on 127.0.0.1:PORT: another program answers "
            "there");
}

TEST_F(ExternalTrials, ASlowStarterHasTheTimeOfItsTrial) {
  server_start = milliseconds(1);
  scenario.limits.trial_timeout = seconds(20);
  EXPECT_TRUE(run_entry().measured());
}

TEST_F(ExternalTrials, ASlowStarterHasATimeOfItsOwn) {
  server_start = milliseconds(1);
  entry.contestant.ready_timeout = seconds(20);
  EXPECT_TRUE(run_entry().measured());
  scenario.limits.trial_timeout = seconds(20);
  entry.contestant.ready_timeout = milliseconds(50);
  entry.contestant.command = "sleep 60 # {port}";
  EXPECT_EQ(without_port(run_entry().failure),
            "the server did not accept a connection on 127.0.0.1:PORT within 50.0 ms (--ready-timeout allows "
            "more)");
}

// More lines than are kept follow the one that is waited for, before anybody looks.
TEST_F(ExternalTrials, ALineMaySayThatItIsReady) {
  entry.contestant.ready = "is open";
  entry.contestant.command = "echo the shop is open; yes | head -n 2000; " + command(" {port}");
  const Trial trial = run_entry();
  EXPECT_TRUE(trial.measured()) << trial.failure;
}

TEST_F(ExternalTrials, AServerIsNotDialledBeforeItsLine) {
  std::ofstream(script_) << "import socket, sys\n"
                            "s = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
                            "s.settimeout(0.2)\n"
                            "try: s.accept(); sys.exit('dialled too early')\n"
                            "except TimeoutError: print('listening', flush=True)\n"
                            "s.settimeout(None)\n"
                            "while True: c = s.accept()[0]\n";
  entry.contestant.ready = "listening";
  const Trial trial = run_entry();
  EXPECT_TRUE(trial.measured()) << trial.failure;
}

TEST_F(ExternalTrials, OneThatDoesNotPrintItsLineIsToldWhatItPrinted) {
  entry.contestant.ready_timeout = milliseconds(300);
  entry.contestant.ready = "listening";
  entry.contestant.command = "echo starting; sleep 60 # {port}";
  Trial trial = run_entry();
  EXPECT_EQ(trial.failure,
            "the server did not print a line with 'listening' within 300 ms (--ready-timeout allows more)");
  EXPECT_EQ(trial.last_words, std::vector<std::string>{"starting"});
  entry.contestant.command = "sleep 60 # {port}";
  EXPECT_TRUE(
      run_entry().failure.ends_with("; it has printed nothing, and many programs print into a pipe "
                                    "only when they flush (stdbuf -oL, python3 -u)"));
  entry.contestant.command = "exit 3 # {port}";
  EXPECT_EQ(run_entry().failure,
            "the server ended before it could print a line with 'listening': exit code 3");
}

TEST_F(ExternalTrials, ComplaintsOnStandardOutputAreLastWordsToo) {
  entry.contestant.command = "echo no config; exit 4 # {port}";
  EXPECT_EQ(run_entry().last_words, std::vector<std::string>{"no config"});
  entry.contestant.command = "echo no config; echo bad config >&2; exit 4 # {port}";
  EXPECT_EQ(run_entry().last_words, std::vector<std::string>{"bad config"});
}

// It writes faster than anybody reads.
TEST_F(ExternalTrials, OneThatPrintsWithoutEndIsMeasured) {
  entry.contestant.command = "yes & " + command(" {port}");
  const Trial trial = run_entry();
  EXPECT_TRUE(trial.measured()) << trial.failure;
}

TEST_F(ExternalTrials, OneThatDoesNotEndWhenAskedIsKilledAndNoted) {
  server_stop = milliseconds(300);
  entry.contestant.command = "trap '' TERM; " + command(" {port}");
  entry.trials.push_back(run_entry());
  const Trial& trial = entry.trials.front();
  ASSERT_TRUE(trial.measured()) << trial.failure;
  EXPECT_EQ(trial.server.notes,
            std::vector<std::string>{"it did not end within 300 ms of SIGTERM, and was killed"});
  server_stop = seconds(300);
  EXPECT_TRUE(run_entry().server.ignores_stop) << "it is not waited for again";
}

}  // namespace
}  // namespace joust::race
