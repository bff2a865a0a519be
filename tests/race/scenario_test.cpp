// SPDX-License-Identifier: MIT
#include "race/model/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "race/scenario/scenario_toml.hpp"
#include "race/scenario_fixture.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kSmall = R"(
load = { duration = "1s" }
matrix = { servers = ["threads", "epoll"] }
)";

TEST_F(ScenarioFile, ReadsEveryKey) {
  const auto scenario = read(R"(
title = "A title"
description = "Words"
protocol = "work"
rounds = 5
seed = 42
reference = "level"
client = "threads"
load = { connections = "4k", messages = 300, warmup = "200ms", interval = "10ms", payload = "1KiB" }
[socket]
nodelay = true
congestion = "cubic"
send_buffer = "64KiB"
receive_buffer = 65536
backlog = "4k"
[limits]
connect_timeout = "1s"
request_timeout = "2s"
idle_timeout = "3s"
trial_timeout = "1m"
[cpus]
server = 0
client = "1-3"
[matrix]
servers = ["threads"]
clients = ["epoll"]
[[contestant]]
name = "level"
server = { engine = "epoll", trigger = "level", threads = 2, wait = "spin" }
[[contestant]]
name = "other program"
command = "server --port {port}"
needs = "server"
warmup = "3s"
ready = "listening"
ready_timeout = "40s"
client = "epoll:trigger=level"
)");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->title, "A title");
  EXPECT_EQ(scenario->rounds, 5U);
  EXPECT_EQ(scenario->seed, 42U);
  EXPECT_EQ(scenario->socket.send_buffer_bytes, 65536U);
  EXPECT_EQ(scenario->socket.backlog, 4000U);
  EXPECT_EQ(scenario->limits.trial_timeout, seconds(60));
  EXPECT_EQ(scenario->cpus.server, "0");
  ASSERT_EQ(scenario->cases.size(), 1U);
  const Case& one = scenario->cases.front();
  EXPECT_EQ(one.protocol, "work");
  EXPECT_EQ(one.load.connections, 4000U);
  EXPECT_EQ(one.load.messages, 300U);
  EXPECT_FALSE(one.load.window());
  EXPECT_EQ(one.load.interval, milliseconds(10));
  EXPECT_EQ(one.load.payload, 1024U);
  ASSERT_EQ(scenario->contestants.size(), 3U);
  EXPECT_EQ(scenario->contestants[0].name, "threads");
  EXPECT_EQ(scenario->contestants[0].client.engine, "epoll");
  EXPECT_EQ(scenario->contestants[1].server.knobs.at("trigger"), "level");
  EXPECT_EQ(scenario->contestants[1].server.threads, 2U);
  EXPECT_EQ(scenario->contestants[1].server.wait, "spin");
  EXPECT_EQ(scenario->contestants[1].client.engine, "threads");
  EXPECT_EQ(scenario->contestants[2].command, "server --port {port}");
  EXPECT_EQ(scenario->contestants[2].needs, std::vector<std::string>{"server"});
  EXPECT_EQ(scenario->contestants[2].warmup, std::chrono::seconds(3));
  EXPECT_FALSE(scenario->contestants[1].warmup);
  EXPECT_EQ(scenario->contestants[2].client.knobs.at("trigger"), "level");
}

TEST_F(ScenarioFile, PairsEveryServerWithEveryClient) {
  const auto scenario = read(R"(
load = { duration = "1s" }
matrix = { servers = ["threads", "epoll:trigger=level"], clients = ["epoll", "io-uring"] }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  ASSERT_EQ(scenario->contestants.size(), 4U);
  EXPECT_EQ(scenario->contestants[0].name, "threads/epoll");
  EXPECT_EQ(scenario->contestants[3].name, "epoll:trigger=level/io-uring");
}

TEST_F(ScenarioFile, HasNoMoreEntriesThanARaceCanHave) {
  const auto list = [](std::size_t entries) {
    std::string names;
    for (std::size_t i = 0; i < entries; ++i) names += "\"epoll\", ";
    return "[" + names + "]";
  };
  const std::string head = "protocol = \"echo\"\n[matrix]\nservers = ";
  const auto scenario = read(head + list(1000));
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->contestants.size(), 1000U);
  EXPECT_EQ(problem(head + list(1001)),
            "3:1: key 'matrix.servers': it has 1001 entries; allowed: up to 1000");
  EXPECT_EQ(problem(head + list(40) + "\nclients = " + list(40)),
            "2:2: key 'matrix': 40 servers with 40 clients are too many; allowed: up to 1000 contestants");
}

TEST_F(ScenarioFile, UnknownKeysNameTheNearest) {
  EXPECT_EQ(problem(std::string(kSmall) + "ruonds = 5\n"),
            "4:1: key 'ruonds': unknown key; allowed: title, description, rounds, time, precision, "
            "least_difference, allow_unranked, turns, "
            "turn, seed, "
            "reference, socket, protocol, "
            "files, options, "
            "load, sweep, quick, full, case, limits, cpus, client, matrix, contestant; did you mean "
            "'rounds'?");
  EXPECT_EQ(problem("load = { duration = \"1s\", conections = 5 }\nmatrix = { servers = [\"epoll\"] }\n"),
            "1:27: key 'load.conections': unknown key; allowed: connections, messages, "
            "messages_per_connection, duration, warmup, interval, "
            "rate, arrivals, phase, burst, depth, payload, reconnect, backoff, reconnect_for, tls, tls_ca, "
            "tls_name, tls_insecure, rates; did you mean "
            "'connections'?");
}

TEST_F(ScenarioFile, OnlyACommandSaysThatItIsReady) {
  const std::string load = "load = { duration = \"1s\" }\n[[contestant]]\n";
  EXPECT_EQ(problem(load + "server = \"epoll\"\nready = \"listening\"\n"),
            "4:1: key 'contestant.ready': it has no command; allowed: beside a command");
  EXPECT_EQ(problem(load + "command = \"a {port}\"\nready = \"\"\n"),
            "4:1: key 'contestant.ready': it is empty; allowed: a part of a line that its command prints");
}

TEST_F(ScenarioFile, WrongTypesSayWhatIsAllowed) {
  EXPECT_EQ(problem(std::string(kSmall) + "title = 5\n"),
            "4:1: key 'title': wrong type; allowed: text in quotes");
  EXPECT_EQ(problem(std::string(kSmall) + "socket = { nodelay = \"yes\" }\n"),
            "4:12: key 'socket.nodelay': wrong type; allowed: true, false");
  EXPECT_EQ(problem(std::string(kSmall) + "limits = \"none\"\n"),
            "4:1: key 'limits': wrong type; allowed: a table [limits]");
  EXPECT_EQ(problem(std::string(kSmall) + "contestant = \"epoll\"\n"),
            "4:1: key 'contestant': wrong type; allowed: tables [[contestant]]");
}

TEST_F(ScenarioFile, ImpossibleValuesSayWhatIsPossible) {
  EXPECT_EQ(
      problem(std::string(kSmall) + "rounds = 0\n"),
      "4:1: key 'rounds': 0 is out of range; allowed: a whole number from 1 to 1000, units as in \"4k\"");
  EXPECT_EQ(problem(std::string(kSmall) + "rounds = -3\n"),
            "4:1: key 'rounds': -3 is negative; allowed: a whole number from 1 to 1000, units as in \"4k\"");
  EXPECT_EQ(problem("load = { duration = 5 }\nmatrix = { servers = [\"epoll\"] }\n"),
            "1:10: key 'load.duration': '5' has no unit (write it like 500us, 10ms or 30s)");
  EXPECT_EQ(problem(std::string(kSmall) + "limits = { trial_timeout = \"1s\" }\n"),
            "4:1: key 'limits': trial_timeout 1.00 s ends a trial before its load can be over; allowed: more "
            "than 1.3 s (--trial-timeout)");
  EXPECT_EQ(
      problem(std::string(kSmall) + "cpus = { server = \"0-\" }\n"),
      "4:10: key 'cpus.server': '0-' is no CPU list; allowed: any, or numbers and ranges such as 0 or 0-1,3");
  EXPECT_EQ(
      problem(std::string(kSmall) + "reference = \"treads\"\n"),
      "4:1: key 'reference': reference 'treads' is not a contestant; allowed: threads, epoll; did you mean "
      "'threads'?");
}

TEST_F(ScenarioFile, APayloadMustFitTheProtocol) {
  EXPECT_EQ(
      problem("protocol = \"work\"\nload = { duration = \"1s\", payload = \"4k\" }\nmatrix = { servers = "
              "[\"epoll\"] }\n"),
      "2:1: key 'load': a payload of 4000 bytes is impossible for protocol 'work'; allowed: 1 to 2048");
}

TEST_F(ScenarioFile, AnEngineIsCheckedAgainstTheCatalogue) {
  const std::string load = "load = { duration = \"1s\" }\n";
  EXPECT_EQ(problem(load + "matrix = { servers = [\"epol\"] }\n"),
            "2:23: key 'matrix.servers': there is no engine 'epol'; allowed: threads, epoll, io-uring, "
            "pool, listener, "
            "broken; did you mean 'epoll'?");
  EXPECT_EQ(
      problem(load + "client = \"listener\"\nmatrix = { servers = [\"epoll\"] }\n"),
      "2:10: key 'client': engine 'listener' does not dial; allowed: threads, epoll, io-uring, pool, broken");
  EXPECT_EQ(
      problem(load + "[[contestant]]\nserver = { engine = \"epoll\", triger = \"edge\" }\n"),
      "3:30: key 'contestant.server.triger': engine 'epoll' has no knob 'triger'; allowed: threads, wait, "
      "nodelay, transport, trigger; did you mean 'trigger'?");
  EXPECT_EQ(
      problem(load + "[[contestant]]\nserver = { engine = \"epoll\", trigger = \"lvl\" }\n"),
      "3:30: key 'contestant.server.trigger': 'lvl' is no value of knob 'trigger'; allowed: edge, level; did "
      "you mean 'level'?");
  EXPECT_TRUE(read(load + "matrix = { servers = [\"broken\"] }\n"))
      << "an unavailable engine is listed, not refused";
}

TEST_F(ScenarioFile, OptionsAreTheProtocols) {
  const std::string load = "load = { duration = \"1s\" }\n";
  const std::string room = load + "protocol = \"room\"\n";
  const auto scenario = read(room + R"(
options = { seats = 4 }
matrix = { servers = ["epoll", "epoll:flush=each:seats=5"] }
[[case]]
name = "large"
options = { seats = 9, flush = "each" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  const Case& one = scenario->cases.front();
  const Catalogue catalogue = fake_catalogue();
  const auto options = [&](std::size_t contestant, Role role) {
    const Contestant& who = scenario->contestants[contestant];
    return options_of(one, role == Role::serve ? who.server : who.client, role, catalogue);
  };
  EXPECT_EQ(options(0, Role::serve), (Settings{{"flush", "each"}, {"seats", "9"}}));
  EXPECT_EQ(options(0, Role::dial), (Settings{{"seats", "9"}})) << "flush is the server's";
  EXPECT_EQ(options(1, Role::serve), (Settings{{"flush", "each"}, {"seats", "5"}}));
  EXPECT_EQ(scenario->contestants[1].name, "epoll:flush=each:seats=5");
  const std::string servers = "matrix = { servers = [\"epoll\"] }\n";
  EXPECT_EQ(problem(room + "options = { flsh = 1 }\n" + servers),
            "3:13: key 'options.flsh': protocol 'room' has no option 'flsh'; allowed: flush, seats, labour; "
            "did you "
            "mean 'flush'?");
  EXPECT_EQ(problem(room + "options = { flush = \"never\" }\n" + servers),
            "3:13: key 'options.flush': 'never' is no value of option 'flush'; allowed: batch, each");
  EXPECT_FALSE(read(load + "matrix = { servers = [\"epoll:flush=each\"] }\n")) << "echo has no such option";
  EXPECT_FALSE(read(room + servers + "client = \"epoll:flush=each\"\n")) << "a client does not flush";
}

TEST_F(ScenarioFile, AContestantIsAServerOrACommand) {
  const std::string load = "load = { duration = \"1s\" }\n";
  EXPECT_EQ(problem(load + "[[contestant]]\nname = \"x\"\n"),
            "2:1: key 'contestant.server': missing; allowed: server = \"ENGINE\", command = \"... {port}\", "
            "or transfer = \"... {from} {into}\"");
  EXPECT_EQ(problem(load + "[[contestant]]\nserver = \"epoll\"\nneeds = \"nginx\"\n"),
            "4:1: key 'contestant.needs': it has no command; allowed: the programs that commands run");
  EXPECT_EQ(problem(load + "[[contestant]]\nserver = \"epoll\"\n[[contestant]]\nserver = \"epoll\"\n" +
                    "client = \"threads\"\n"),
            "5:1: key 'contestant.server': another contestant is called 'epoll'; allowed: a name of its own "
            "(name = \"...\")");
  EXPECT_EQ(problem(load + "[[contestant]]\nserver = \"epoll\"\n[[contestant]]\nserver = \"threads\"\n" +
                    "name = \"epoll\"\n"),
            "6:1: key 'contestant.name': another contestant is called 'epoll'; allowed: a name of its own "
            "(name = \"...\")");
}

TEST_F(ScenarioFile, EqualContestantsWithoutNamesHaveNumbers) {
  const std::string one = "[[contestant]]\nserver = \"epoll\"\n";
  const auto scenario =
      read("load = { duration = \"1s\" }\nmatrix = { servers = [\"epoll\", \"epoll\"] }\n" + one + one);
  ASSERT_TRUE(scenario) << scenario.error();
  std::vector<std::string> names;
  for (const Contestant& contestant : scenario->contestants) names.push_back(contestant.name);
  EXPECT_EQ(names, (std::vector<std::string>{"epoll", "epoll#2", "epoll#3", "epoll#4"}));
}

TEST_F(ScenarioFile, AllProblemsAreToldAtOnce) {
  const std::string message = problem(std::string(kSmall) + "rounds = 0\nseed = \"x\"\ntitle = 1\n");
  EXPECT_EQ(std::ranges::count(message, '\n'), 2);
}

TEST_F(ScenarioFile, ProblemsAreInTheOrderOfTheFile) {
  const std::string message = problem(
      "colour = 1\nload = { duration = \"1s\", depht = 2 }\nturn = \"11s\"\nseed = \"x\"\n"
      "matrix = { servers = [\"epoll\"], typo = 1 }\nrounds = 0\n");
  std::string lines;
  for (std::size_t at = 0; at != std::string::npos; at = message.find('\n', at)) {
    if (at > 0) ++at;
    lines += message.substr(at, 2);
  }
  EXPECT_EQ(lines, "1:2:3:4:5:6:") << message;
  EXPECT_NE(message.find("key 'turn': '11s' is too long; allowed: up to 10.0 s"), std::string::npos)
      << message;
}

TEST_F(ScenarioFile, WhatIsNotTomlIsLocated) {
  EXPECT_TRUE(problem("load = { \n").starts_with("1:") || problem("load = { \n").starts_with("2:"));
  EXPECT_NE(problem("title = \"x\nrounds = 3\n").find("a text has no closing quote"), std::string::npos);
  EXPECT_NE(problem("load = {{ \n").find("this is not TOML"), std::string::npos);
}

TEST(MissingScenario, NamesTheFile) {
  const auto scenario = read_scenario("no/such/nonsense.toml", fake_catalogue());
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error(), "no/such/nonsense.toml: cannot read this scenario: No such file or directory");
}

TEST(MissingScenario, AFolderIsNoScenario) {
  const auto scenario = read_scenario(test::TemporaryFolder().path(), fake_catalogue());
  ASSERT_FALSE(scenario);
  EXPECT_NE(scenario.error().find("Is a directory"), std::string::npos) << scenario.error();
}

TEST_F(ScenarioFile, ACaseSaysOnlyWhatDiffers) {
  const auto scenario = read(R"(
load = { connections = 4000, messages = 300, interval = "10ms" }
matrix = { servers = ["epoll"] }
[[case]]
name = "as published"
[[case]]
name = "no pause"
title = "The same without the pause"
load = { interval = 0, duration = "2s" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  ASSERT_EQ(scenario->cases.size(), 2U);
  EXPECT_EQ(scenario->cases[0].load.messages, 300U);
  EXPECT_EQ(scenario->cases[0].load.interval, milliseconds(10));
  EXPECT_EQ(scenario->cases[1].load.connections, 4000U);
  EXPECT_EQ(scenario->cases[1].load.interval, Duration(0));
  EXPECT_EQ(scenario->cases[1].load.duration, seconds(2));
  EXPECT_FALSE(scenario->cases[1].load.messages);
}

TEST_F(ScenarioFile, ALoadWithoutAnEndLastsASecond) {
  const auto scenario = read(
      "matrix = { servers = [\"epoll\"] }\n"
      "[[case]]\nname = \"plain\"\n"
      "[[case]]\nname = \"counted\"\nload = { messages = 9 }\n"
      "[[case]]\nname = \"long\"\nload = { duration = \"7s\" }\n");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].load.duration, std::chrono::seconds(1));
  EXPECT_EQ(scenario->cases[1].load.window(), std::nullopt);
  EXPECT_EQ(scenario->cases[1].load.messages, 9U);
  EXPECT_EQ(scenario->cases[2].load.duration, std::chrono::seconds(7));
}

TEST_F(ScenarioFile, ACommandHasTheNameOfItsProgram) {
  const auto scenario = read(
      "[[contestant]]\ncommand = \"my-server --port {port}\"\n"
      "[[contestant]]\ncommand = \"A=b exec bin/my-server -q {port}\"\n"
      "[[contestant]]\ncommand = \"(cd x; y {port})\"\n"
      "[[contestant]]\nname = \"mine\"\ncommand = \"z {port}\"\n");
  ASSERT_TRUE(scenario) << scenario.error();
  std::vector<std::string> names;
  for (const Contestant& contestant : scenario->contestants) names.push_back(contestant.name);
  EXPECT_EQ(names, (std::vector<std::string>{"my-server", "my-server#2", "command", "mine"}));
}

TEST_F(ScenarioFile, ACaseHasSocketOptionsOfItsOwn) {
  const auto scenario = read(R"(
load = { duration = "1s" }
socket = { nodelay = true, send_buffer = "64KiB" }
matrix = { servers = ["epoll"] }
[[case]]
name = "as others"
[[case]]
name = "Nagle"
socket = { nodelay = false }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].socket.nodelay, true);
  EXPECT_EQ(scenario->cases[1].socket.nodelay, false);
  EXPECT_EQ(scenario->cases[1].socket.send_buffer_bytes, 65536U);
}

}  // namespace
}  // namespace joust::race
