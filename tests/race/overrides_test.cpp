// SPDX-License-Identifier: MIT
#include "race/scenario/overrides.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Scenario applied(const Overrides& given, Scenario scenario = empty_scenario(fake_catalogue())) {
  const auto done = apply(given, scenario, fake_catalogue());
  EXPECT_TRUE(done) << done.error();
  return scenario;
}

std::string problem(const Overrides& given, Scenario scenario = empty_scenario(fake_catalogue())) {
  const auto done = apply(given, scenario, fake_catalogue());
  return done ? "no problem" : done.error();
}

std::vector<std::string> names_of(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Contestant& contestant : scenario.contestants) names.push_back(contestant.name);
  return names;
}

TEST(Overrides, DescribeARaceOfTheirOwn) {
  const Scenario scenario =
      applied({.servers = {"threads", "epoll:trigger=level"},
               .clients = {"epoll", "io-uring"},
               .load = {{"connections", "4000"}, {"duration", "2s"}},
               .own = {{"rounds", "7"}, {"seed", "5"}, {"reference", "threads/io-uring"}},
               .threads = {.server = 2},
               .wait = "spin"});
  ASSERT_EQ(scenario.contestants.size(), 4U);
  EXPECT_EQ(scenario.contestants[0].server.threads, 2U);
  EXPECT_EQ(scenario.contestants[0].client.threads, 1U);
  EXPECT_EQ(scenario.contestants[0].client.wait, "spin");
  EXPECT_EQ(scenario.contestants[2].server.knobs.at("trigger"), "level");
  EXPECT_EQ(scenario.cases.front().load.connections, 4000U);
  EXPECT_EQ(scenario.cases.front().load.duration, seconds(2));
  EXPECT_EQ(scenario.rounds, 7U);
  EXPECT_EQ(scenario.seed, 5U);
}

// Engines whose messages may be lost: one plays both roles, one only serves.
Catalogue with_datagrams() {
  static constexpr Delivery kMessages{.kind = Delivery::Kind::message},
      kLossy{.kind = Delivery::Kind::message, .lossy = true};
  static const std::vector<Engine> engines = [] {
    Engine datagrams = fake_engine("datagrams"), group = fake_engine("group"),
           parcels = fake_engine("parcels");
    datagrams.delivery = group.delivery = kLossy;
    parcels.delivery = kMessages;
    group.dials = parcels.dials = false;
    return std::vector<Engine>{datagrams, group, parcels};
  }();
  Catalogue catalogue = fake_catalogue();
  for (const Engine& engine : engines) catalogue.engines.push_back({.engine = &engine});
  return catalogue;
}

TEST(Overrides, AClientThatIsNotChosenDeliversAsItsServerDoes) {
  const Catalogue catalogue = with_datagrams();
  Scenario scenario = empty_scenario(catalogue);
  ASSERT_TRUE(
      apply({.servers = {"threads,datagrams", "group", "parcels"}, .clients = {}}, scenario, catalogue));
  const auto client = [&](std::size_t i) { return scenario.contestants.at(i).client.engine; };
  EXPECT_EQ(client(0), "epoll");
  EXPECT_EQ(client(1), "datagrams") << "the server's own";
  EXPECT_EQ(client(2), "datagrams") << "the first that delivers alike";
  EXPECT_EQ(client(3), "epoll") << "there is none; the race says why it cannot be";
  EXPECT_EQ(scenario.contestants[1].name, "datagrams");
}

TEST(Overrides, AClientThatIsChosenIsThatOfAll) {
  const Catalogue catalogue = with_datagrams();
  Scenario scenario = empty_scenario(catalogue);
  ASSERT_TRUE(apply({.servers = {"threads,datagrams"}, .clients = {"io-uring"}}, scenario, catalogue));
  for (const Contestant& contestant : scenario.contestants)
    EXPECT_EQ(contestant.client.engine, "io-uring") << contestant.name;
}

TEST(Overrides, ChangeEveryCaseOfAScenario) {
  Scenario scenario = fake_scenario({"threads"});
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "other";
  scenario.cases.back().load.interval = milliseconds(10);
  scenario = applied({.servers = {}, .clients = {}, .load = {{"messages", "100"}}}, scenario);
  EXPECT_EQ(scenario.contestants.front().name, "threads");
  for (const Case& one : scenario.cases) {
    EXPECT_EQ(one.load.messages, 100U);
    EXPECT_FALSE(one.load.window()) << "messages instead of a time";
  }
  EXPECT_EQ(scenario.cases.back().load.interval, milliseconds(10));
}

TEST(Overrides, ARateReplacesTheIntervalOfEveryCase) {
  Scenario scenario = fake_scenario({"threads"});
  scenario.cases.front().load.interval = milliseconds(10);
  scenario =
      applied({.servers = {}, .clients = {}, .load = {{"rate", "5k"}, {"arrivals", "poisson"}}}, scenario);
  EXPECT_EQ(scenario.cases.front().load.rate_per_s, 5000.0);
  EXPECT_EQ(scenario.cases.front().load.arrivals, LoadPlan::Arrivals::poisson);
  EXPECT_EQ(scenario.cases.front().load.interval, Duration(0));
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .load = {{"interval", "1ms"}, {"rate", "5k"}}}),
            "-R and -i exclude each other: a rate is the open loop, an interval the closed schedule");
  const std::string needs_duration =
      "rate needs a duration, and a number of messages is given; allowed: duration (-d) instead of messages "
      "(-m)";
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .load = {{"messages", "10"}, {"rate", "5k"}}}),
            needs_duration);
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .load = {{"messages", "10"}}, .rates = "30%"}),
            needs_duration);
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .load = {{"rate", "5k"}}, .rates = "1k"}),
            "--rates excludes --rate and --interval; allowed: one of them");
}

TEST(Overrides, OneClientReplacesThatOfEveryContestant) {
  const Scenario scenario =
      applied({.servers = {}, .clients = {"io-uring"}}, fake_scenario({"threads", "epoll"}));
  for (const Contestant& contestant : scenario.contestants) EXPECT_EQ(contestant.client.engine, "io-uring");
}

TEST(Overrides, QuickIsTenSecondsUnlessSaidOtherwise) {
  using std::chrono::seconds;
  const Scenario quick = applied({.servers = {"epoll"}, .clients = {}, .quick = true});
  EXPECT_EQ(quick.rounds, 0U);
  EXPECT_EQ(quick.time, seconds(10));
  EXPECT_EQ(applied({.servers = {"epoll"}, .clients = {}, .own = {{"time", "30s"}}, .quick = true}).time,
            seconds(30));
  EXPECT_EQ(applied({.servers = {"epoll"}, .clients = {}, .own = {{"rounds", "8"}}, .quick = true}).rounds,
            8U);
  EXPECT_EQ(applied({.servers = {}, .clients = {}, .quick = true}, fake_scenario({"epoll"}, 2)).rounds, 2U);
  EXPECT_EQ(applied({.servers = {}, .clients = {}, .quick = true}, fake_scenario({"epoll"}, 8)).rounds, 3U);
}

TEST(Overrides, ANumberOfRoundsHasNoTime) {
  Scenario scenario = fake_scenario({"epoll"}, 2);
  const auto applied = apply({.servers = {}, .clients = {}, .own = {{"rounds", "3"}, {"time", "5s"}}},
                             scenario, fake_catalogue());
  ASSERT_FALSE(applied);
  EXPECT_TRUE(applied.error().starts_with("--time: so many rounds (--rounds)")) << applied.error();
}

TEST(Overrides, LeaveTimeForTheLoadInATrial) {
  Scenario scenario = fake_scenario({"epoll"});
  scenario.limits.trial_timeout = seconds(5);
  applied({}, scenario);
  EXPECT_EQ(problem({.servers = {}, .clients = {}, .load = {{"duration", "4700ms"}}}, scenario),
            "trial_timeout 5.00 s ends a trial before its load can be over; allowed: more than 5 s "
            "(--trial-timeout)");
  EXPECT_EQ(
      applied({.servers = {}, .clients = {}, .load = {{"duration", "9s"}}, .own = {{"trial_timeout", "10s"}}},
              scenario)
          .limits.trial_timeout,
      seconds(10));
}

TEST(Overrides, EqualContestantsHaveNumbers) {
  const Scenario scenario = applied({.servers = {"epoll,threads", "epoll"}, .clients = {"epoll,epoll"}});
  EXPECT_EQ(names_of(scenario),
            (std::vector<std::string>{"epoll/epoll", "epoll/epoll#2", "threads/epoll", "threads/epoll#2",
                                      "epoll#2/epoll", "epoll#2/epoll#2"}));
  EXPECT_EQ(problem({.servers = {"epoll:trigger=level:trigger=edge"}, .clients = {}}),
            "--server: knob 'trigger' is given twice in 'epoll:trigger=level:trigger=edge'");
}

TEST(Overrides, CommandsAreContestantsBeforeTheServers) {
  const Scenario scenario = applied(
      {.servers = {"epoll"}, .clients = {}, .commands = {"old=./a --port={port}", "new=A=b ./a {port}"}});
  EXPECT_EQ(names_of(scenario), (std::vector<std::string>{"old", "new", "epoll"}));
  EXPECT_EQ(scenario.contestants[0].command, "./a --port={port}");
  EXPECT_EQ(scenario.contestants[1].command, "A=b ./a {port}");
  EXPECT_EQ(scenario.contestants[1].client.engine, "epoll");
  EXPECT_TRUE(scenario.contestants[1].external());
  EXPECT_FALSE(scenario.contestants[2].external());
}

TEST(Overrides, CommandsTakeThePlaceOfAFilesContestantsAndMeetEveryClient) {
  const Scenario scenario =
      applied({.servers = {}, .clients = {"epoll,threads"}, .commands = {"mine=./a {port}"}},
              fake_scenario({"threads", "epoll"}));
  EXPECT_EQ(names_of(scenario), (std::vector<std::string>{"mine/epoll", "mine/threads"}));
  EXPECT_EQ(scenario.contestants[1].client.engine, "threads");
  EXPECT_EQ(scenario.contestants[1].command, "./a {port}");
}

TEST(Overrides, SayWhenACommandIsReady) {
  const Scenario scenario = applied({.servers = {"epoll"},
                                     .clients = {},
                                     .commands = {"mine=./a {port}"},
                                     .ready = "listening",
                                     .ready_timeout = seconds(40)});
  EXPECT_EQ(scenario.contestants[0].ready, "listening");
  EXPECT_EQ(scenario.contestants[1].ready, "") << "it reports when it listens";
  for (const Contestant& contestant : scenario.contestants)
    EXPECT_EQ(contestant.ready_timeout, seconds(40)) << contestant.name;
  EXPECT_EQ(
      problem({.servers = {"epoll"}, .clients = {}, .ready = "listening"}),
      "--ready: no contestant is a command, and joust's own servers report when they listen; leave it out");
  EXPECT_EQ(problem({.servers = {}, .clients = {}, .commands = {"mine=./a {port}"}, .ready = ""}),
            "--ready: it is empty; allowed: a part of a line that a command prints");
}

TEST(Overrides, ThresholdsNeedTwoContestantsAndTheirFigure) {
  const Scenario scenario = applied(
      {.servers = {"epoll,threads"}, .clients = {}, .own = {{"fail_below", "0.97"}, {"undecided", "fail"}}});
  EXPECT_EQ(scenario.thresholds.below, 0.97);
  EXPECT_FALSE(scenario.thresholds.cost_above);
  EXPECT_EQ(scenario.thresholds.undecided, Undecided::fail);
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .own = {{"fail_cost_above", "1.03"}}}),
            "--fail-cost-above: there is one contestant, and none to compare it with; allowed: with two");
  EXPECT_EQ(problem({.servers = {"epoll,threads"}, .clients = {}, .own = {{"undecided", "ok"}}}),
            "--undecided: there is no threshold; allowed: with --fail-below or --fail-cost-above");
  EXPECT_EQ(
      problem({.servers = {"epoll,threads"},
               .clients = {},
               .load = {{"rate", "5k"}},
               .own = {{"fail_below", "0.97"}}}),
      "--fail-below: at a given rate throughput does not compare servers; allowed: --fail-cost-above, or a "
      "load without a rate");
}

TEST(Overrides, SayWhichCommandIsWrong) {
  const auto wrong = [](std::vector<std::string> commands) {
    return problem({.servers = {}, .clients = {}, .commands = std::move(commands)});
  };
  const std::string form = "write NAME=COMMAND, such as --command old='./server --port {port}'";
  EXPECT_EQ(wrong({"./server {port}"}), "--command './server {port}': there is no equals sign; " + form);
  EXPECT_EQ(wrong({"=x"}), "--command '=x': there is no name before the equals sign; " + form);
  EXPECT_EQ(wrong({"new= "}), "--command 'new= ': there is no command after the equals sign; " + form);
  EXPECT_EQ(wrong({"./server --port={port}"}),
            "--command './server --port={port}': the name before the equals sign is './server --port', and a "
            "name has no spaces, slashes, braces or quotes here; " +
                form);
  EXPECT_EQ(wrong({std::string(61, 'x') + "=x"}).substr(74),
            "': the name: allowed: up to 60 bytes without control characters");
  EXPECT_EQ(wrong({"new=a {port}", "new=b {port}"}),
            "--command 'new=b {port}': another contestant is called 'new'; give each a name of its own");
  EXPECT_EQ(wrong({"new=a {prot}"}),
            "--command 'new=a {prot}': a place in braces is not filled in; did you mean {port}?");
  EXPECT_EQ(wrong({"new={here}/a"}),
            "--command 'new={here}/a': {here} is the folder of a scenario's file; write the path from the "
            "current directory");
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .commands = {"epoll=a {port}"}}),
            "two contestants are called 'epoll': give one another name");
}

TEST(Overrides, EveryServerMustHaveTheThreads) {
  const std::string allowed = "; allowed: 1 to 1024 (0, which means no workers, only for pool)";
  EXPECT_EQ(
      applied({.servers = {"pool"}, .clients = {}, .threads = {.server = 0}}).contestants[0].server.threads,
      0U);
  EXPECT_EQ(problem({.servers = {"pool,epoll"}, .clients = {}, .threads = {.server = 0}}),
            "--threads: engine 'epoll' cannot have 0 threads" + allowed);
  EXPECT_EQ(problem({.servers = {"threads"}, .clients = {}, .threads = {.server = 0}}),
            "--threads: engine 'threads' cannot have 0 threads" + allowed);
  EXPECT_EQ(problem({.servers = {"epoll:threads=0"}, .clients = {}}),
            "--server: engine 'epoll' cannot have 0 threads; allowed: 1 to 1024");
  EXPECT_EQ(problem({.servers = {"threads:threads=2"}, .clients = {}}),
            "--server: threads=2 means nothing to engine 'threads'; leave it out");
}

TEST(Overrides, ThreadsThatMeanNothingAreSaid) {
  const Overrides two{.servers = {"threads,epoll"}, .clients = {}, .threads = {.server = 2}};
  EXPECT_EQ(threads_remarks(two.threads, applied(two), fake_catalogue()),
            std::vector<std::string>{"--threads 2 means nothing to 'threads'"});
}

TEST(Overrides, ACpuMustExist) {
  const std::vector<int> two{0, 1};
  EXPECT_FALSE(check_cpus_exist({.server = "0", .client = "any"}, two));
  EXPECT_EQ(check_cpus_exist({.server = "0", .client = "1-7"}, two),
            "CPUs '1-7' of the client: there is no CPU 2 to run on; there are: 0-1 (--client-cpus)");
}

TEST(Overrides, SayWhichFlagIsWrong) {
  EXPECT_NE(problem({.servers = {""}, .clients = {}}).find("--server: a name in the list is empty"),
            std::string::npos);
  EXPECT_NE(problem({.servers = {}, .clients = {""}}).find("--client: a name in the list is empty"),
            std::string::npos);
  EXPECT_EQ(problem({.servers = {"epol"}, .clients = {}}),
            "--server: there is no engine 'epol'; allowed: threads, epoll, io-uring, pool, listener, broken; "
            "did you "
            "mean 'epoll'?");
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {"null"}}),
            "--client: engine 'null' has no sockets, so it cannot dial in a race; allowed: threads, epoll, "
            "io-uring, pool, broken");
  EXPECT_EQ(problem({.servers = {"null"}, .clients = {}}),
            "--server: engine 'null' has no sockets, so it cannot serve in a race; allowed: threads, epoll, "
            "io-uring, pool, listener, broken");
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {"listener"}}),
            "--client: engine 'listener' does not dial; allowed: threads, epoll, io-uring, pool, broken");
  EXPECT_EQ(problem({.servers = {"epoll:level"}, .clients = {}}),
            "--server: 'level' is not KNOB=VALUE (write it like epoll:trigger=level)");
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .own = {{"server_cpus", "one"}}}),
            "--server-cpus: 'one' is no CPU list; allowed: any, or numbers and ranges such as 0 or 0-1,3");
  EXPECT_EQ(
      problem({.servers = {"epoll"}, .clients = {}, .protocol = "ecko"}),
      "there is no protocol 'ecko'; allowed: echo, turns, files, disk, work, room; did you mean 'echo'?");
  EXPECT_EQ(problem({.servers = {"epoll"}, .clients = {}, .own = {{"reference", "threads"}}}),
            "--reference 'threads' is not a contestant; allowed: epoll");
}

}  // namespace
}  // namespace joust::race
