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
            "the server did not accept a connection on 127.0.0.1:PORT within 150 ms");
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
  EXPECT_EQ(failure,
            "the server did not accept a connection on 127.0.0.1:PORT within 2.00 s; it listens on "
            "[::1]:PORT, and its port is given by {port}, or else by the variable PORT");
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

}  // namespace
}  // namespace joust::race
