// SPDX-License-Identifier: MIT
#include "race/scenario/shell_command.hpp"
#include "race/trial/orders.hpp"

#include "load/settings.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {
namespace {

TEST(Commands, AServerIsToldEverythingTheScenarioSays) {
  Scenario scenario = fake_scenario({"epoll"});
  scenario.cases.front().socket = {
      .nodelay = false, .congestion = "cubic", .send_buffer_bytes = 65536, .backlog = 100};
  scenario.limits.idle_timeout = std::chrono::seconds(3);
  Entry entry;
  entry.contestant = scenario.contestants.front();
  entry.contestant.server.threads = 2;
  entry.contestant.server.wait = "spin";
  entry.contestant.server.knobs["trigger"] = "level";
  scenario.cases.front().load.connections = 20'000;
  EXPECT_EQ(
      shell_text(serve_words(scenario, scenario.cases.front(), entry, {.server = "0", .client = "1"})),
      "serve -e epoll -p echo --listen 127.0.0.1:0 -t 2 --wait spin --trigger level --cpus 0 --nodelay off "
      "--congestion cubic --send-buffer 65536 --backlog 100 --idle-timeout 3s --max-connections 20001");
}

TEST(Commands, EachSideIsToldItsOwnNodelay) {
  Scenario scenario = fake_scenario({"epoll"});
  scenario.cases.front().socket.nodelay = true;
  const Case& one = scenario.cases.front();
  Entry entry{.contestant = scenario.contestants.front()};
  entry.contestant.server.nodelay = false;
  EXPECT_NE(shell_text(serve_words(scenario, one, entry, {})).find(" --nodelay off"), std::string::npos);
  EXPECT_NE(shell_text(load_words(scenario, one, entry, {}, "a:1", "")).find(" --nodelay on"),
            std::string::npos);
}

// What all contestants have is for those that can have it; what a contestant was given is for the engine to
// refuse.
TEST(Commands, OptionsOfTcpAreLeftOutForOtherSockets) {
  Scenario scenario = fake_scenario({"epoll"});
  scenario.cases.front().socket = {.nodelay = true, .congestion = "cubic", .send_buffer_bytes = 65536};
  const Case& one = scenario.cases.front();
  Entry entry{.contestant = scenario.contestants.front(), .server_tcp = false, .client_tcp = false};
  entry.contestant.client.nodelay = false;
  const std::string serve = shell_text(serve_words(scenario, one, entry, {}));
  EXPECT_FALSE(serve.contains("--nodelay") || serve.contains("--congestion")) << serve;
  EXPECT_TRUE(serve.contains("--send-buffer 65536"));
  const std::string load = shell_text(load_words(scenario, one, entry, {}, "a:1", ""));
  EXPECT_TRUE(load.contains("--nodelay off")) << load;
  EXPECT_FALSE(load.contains("--congestion")) << load;
}

TEST(Commands, AServerListensWhereItsEngineDoes) {
  const Scenario scenario = fake_scenario({"epoll"});
  const Entry entry{.contestant = scenario.contestants.front(), .listen = "239.255.0.1:0"};
  EXPECT_TRUE(shell_text(serve_words(scenario, scenario.cases.front(), entry, {}))
                  .contains(" --listen 239.255.0.1:0 "));
}

TEST(Commands, ALoadIsToldEverythingTheScenarioSays) {
  Scenario scenario = fake_scenario({"epoll"});
  scenario.limits = {.connect_timeout = std::chrono::seconds(1),
                     .request_timeout = std::chrono::milliseconds(1500),
                     .idle_timeout = std::chrono::seconds(3)};
  LoadPlan& load = scenario.cases.front().load;
  load.messages = 300;
  load.interval = std::chrono::milliseconds(10);
  load.payload = 64;
  Entry entry;
  entry.contestant = scenario.contestants.front();
  EXPECT_EQ(shell_text(load_words(scenario, scenario.cases.front(), entry, {.server = "0", .client = "1"},
                                  "127.0.0.1:9", "out.json")),
            "load -e epoll -p echo --connect 127.0.0.1:9 -c 256 -m 300 -w 300ms -i 10ms --payload 64 "
            "--request-timeout 1500ms -t 1 --wait block --cpus 1 --connect-timeout 1s --idle-timeout 3s "
            "--events --json out.json");
}

TEST(Commands, ALoadIsToldItsSchedule) {
  const Scenario scenario = fake_scenario({"epoll"});
  Case one = scenario.cases.front();
  Entry entry;
  entry.contestant = scenario.contestants.front();
  const auto told = [&](const std::string& words) {
    return shell_text(load_words(scenario, one, entry, {}, "ADDRESS", "FILE")).contains(words);
  };
  one.load.rate_per_s = 5000;
  EXPECT_TRUE(told(" -c 256 -d 1s -w 300ms -R 5000 -t 1 "));
  one.load.turns = true;
  one.load.arrivals = LoadPlan::Arrivals::poisson;
  one.load.phase = LoadPlan::Phase::together;
  one.load.rate_per_s = 1234.5;
  one.load.seed = 77;
  EXPECT_TRUE(told(" --turns -c 256 -R 1234.5 --arrivals poisson --seed 77 --phase together -t 1 "));
  one.load.rate_per_s = 0;
  one.load.arrivals.reset();
  one.load.phase = LoadPlan::Phase::spread;
  one.load.counted_turns = true;
  EXPECT_TRUE(told(" --counted-turns -c 256 -t 1 ")) << "each turn says how many";
}

// The flags that people see and the document that a child reads say the same.
TEST(Commands, AChildHasThePlanAsAWhole) {
  const Scenario scenario = fake_scenario({"epoll"});
  Case one = scenario.cases.front();
  one.load.rate_per_s = 1234.5;
  one.load.arrivals = LoadPlan::Arrivals::poisson;
  one.load.seed = 77;
  one.load.payload = 4096;
  Entry entry;
  entry.contestant = scenario.contestants.front();
  const Words words = load_words(scenario, one, entry, {}, "ADDRESS", "FILE", PlanAs::document);
  const auto plan = std::ranges::find(words, "--plan");
  ASSERT_NE(plan, words.end());
  const auto read = plan_from(*std::next(plan));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(load_flags(*read, LoadPlan()), load_flags(one.load, LoadPlan()));
  EXPECT_EQ(std::ranges::count(words, "-c"), 0);
}

TEST(Commands, ALoadIsToldToReconnect) {
  const Scenario scenario = fake_scenario({"epoll"});
  Case one = scenario.cases.front();
  Entry entry;
  entry.contestant = scenario.contestants.front();
  const auto words = [&] { return shell_text(load_words(scenario, one, entry, {}, "ADDRESS", "FILE")); };
  EXPECT_FALSE(words().contains("--reconnect"));
  one.load.reconnect = LoadPlan::Reconnect::always;
  one.load.backoff_least = std::chrono::milliseconds(20);
  EXPECT_TRUE(words().contains(" --reconnect always --backoff 20ms..1s "));
  entry.in_process = true;
  EXPECT_FALSE(words().contains("--reconnect")) << "there is nothing to dial";
}

TEST(Commands, AServerKeepsConnectionsInThePausesOfTheLoad) {
  Scenario scenario = fake_scenario({"epoll"});
  Case& one = scenario.cases.front();
  Entry entry;
  entry.contestant = scenario.contestants.front();
  const auto told = [&](const std::string& words) {
    return (shell_text(serve_words(scenario, one, entry, {})) + " ").contains(words);
  };
  EXPECT_FALSE(told("--idle-timeout")) << "its own will do";
  one.load.interval = std::chrono::seconds(70);
  EXPECT_TRUE(told(" --idle-timeout 130s "));
  one.load.rate_per_s = 1;  // 256 connections
  one.load.arrivals = LoadPlan::Arrivals::constant;
  EXPECT_TRUE(told(" --idle-timeout 316s "));
  one.load.rate_per_s = 0;
  one.load.interval = std::chrono::seconds(70);
  scenario.limits.idle_timeout = std::chrono::seconds(3);
  EXPECT_TRUE(told(" --idle-timeout 73s "));
  one.load.interval = std::chrono::seconds(1);
  EXPECT_TRUE(told(" --idle-timeout 3s "));
}

TEST(Commands, EachSideIsToldItsOptions) {
  const Scenario scenario = fake_scenario({"epoll"});
  Entry entry;
  entry.contestant = scenario.contestants.front();
  entry.server_options = {{"flush", "each"}};
  entry.client_options = {{"seats", "9"}};
  const Case& one = scenario.cases.front();
  const std::string server = shell_text(serve_words(scenario, one, entry, {}));
  const std::string client = shell_text(load_words(scenario, one, entry, {}, "127.0.0.1:9", "x"));
  EXPECT_NE(server.find("--flush each"), std::string::npos) << server;
  EXPECT_NE(client.find("--seats 9"), std::string::npos) << client;
  EXPECT_EQ(server.find("seats") == std::string::npos, client.find("flush") == std::string::npos);
}

TEST(Commands, InProcessThereIsNowhereToConnect) {
  const Scenario scenario = fake_scenario({"epoll"});
  Entry entry{.kind = EntryKind::ceiling, .contestant = racer("null", "null"), .in_process = true};
  const std::string text = shell_text(load_words(scenario, scenario.cases.front(), entry, {}, "", "x"));
  EXPECT_TRUE(text.starts_with("load -e null -p echo -c 256 -d 1s")) << text;
}

TEST(Commands, TheShellSeesWordsAsTheyWere) {
  EXPECT_EQ(shell_text({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
}

TEST(Cpus, ListsNameCpus) {
  EXPECT_EQ(cpus_in("0"), std::set<int>{0});
  EXPECT_EQ(cpus_in("0-1,3"), (std::set<int>{0, 1, 3}));
  EXPECT_TRUE(cpus_in("any").empty());
}

}  // namespace
}  // namespace joust::race
