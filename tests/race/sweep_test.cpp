// SPDX-License-Identifier: MIT
#include "race/set_up/sweep.hpp"
#include "race/scenario/scenario_toml.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/run/plan.hpp"
#include "race/scenario/overrides.hpp"
#include "race/scenario_fixture.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {
namespace {

using Values = std::vector<double>;

Values values_of(const std::string& text) {
  const auto sweep = parse_sweep(text);
  EXPECT_TRUE(sweep) << text << ": " << sweep.error();
  return sweep ? sweep->values : Values{};
}

std::string problem_of(const std::string& text) {
  const auto sweep = parse_sweep(text);
  return sweep ? "no problem" : sweep.error();
}

Overrides swept(const std::string& sweep) {
  Overrides given;
  given.sweep = sweep;
  return given;
}

std::string refused(const Overrides& given, Scenario scenario = fake_scenario({"threads", "epoll"})) {
  const auto done = apply(given, scenario, fake_catalogue());
  return done ? "no problem" : done.error();
}

TEST(Sweep, ValuesAreAListOrARange) {
  EXPECT_EQ(values_of("connections=64,512,4k"), (Values{64, 512, 4000}));
  EXPECT_EQ(values_of("connections=1..4"), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values_of("connections=1..20+5"), (Values{1, 6, 11, 16}));
  EXPECT_EQ(values_of("connections=1..20x4"), (Values{1, 4, 16}));
  EXPECT_EQ(values_of("connections=7..7"), Values{7});
  EXPECT_EQ(values_of("depth=1, 4..6, 16"), (Values{1, 4, 5, 6, 16}));
  EXPECT_EQ(values_of("payload=1KiB..4KiBx2"), (Values{1024, 2048, 4096}));
  EXPECT_EQ(values_of("rate=0.1..0.4+0.1").size(), 4U) << "in spite of rounding";
  EXPECT_EQ(values_of("connections=1..64").size(), kMostSweepValues);
}

TEST(Sweep, BlanksAreNoMatter) {
  const Values powers{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  EXPECT_EQ(values_of("connections=1..4096x2"), powers);
  EXPECT_EQ(values_of("connections=1..4096 x2"), powers);
}

TEST(Sweep, WhatCannotBeIsToldSo) {
  for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{
           {"1..20",
            "'1..20' is not AXIS=VALUES; allowed: for instance connections=1..20, with an axis of "
            "connections, "
            "payload, depth, threads, rate"},
           {"conections=1",
            "there is no axis 'conections'; allowed: connections, payload, depth, threads, rate; did you "
            "mean "
            "'connections'?"},
           {"connections=", "connections has an empty value; allowed: values such as 64,512 or 1..20"},
           {"connections=1,,2", "connections has an empty value; allowed: values such as 64,512 or 1..20"},
           {"connections=0", "0 is out of range; allowed: 1 to 1,000,000"},
           {"connections=0..5", "0 is out of range; allowed: 1 to 1,000,000"},
           {"connections=2M", "2M is out of range; allowed: 1 to 1,000,000"},
           {"connections=9..1", "'9..1' goes downwards; allowed: the smaller value first"},
           {"connections=1..9x1",
            "'1..9x1' never ends; allowed: a step of 1 or more, or a factor of 2 or more"},
           {"connections=1..9+0",
            "'1..9+0' never ends; allowed: a step of 1 or more, or a factor of 2 or more"},
           {"connections=1..65",
            "more than 64 values; allowed: fewer, for instance by a step (1..20+5) or a factor (1..4096x2)"},
           {"connections=1..64,65",
            "more than 64 values; allowed: fewer, for instance by a step (1..20+5) or a factor (1..4096x2)"},
           {"connections=5,1..5", "5 is given twice"},
           {"payload=64KiB,64KiB", "64KiB is given twice"}})
    EXPECT_EQ(problem_of(text), told) << text;
  for (const char* text : {"connections=many", "connections=1..", "connections=..5", "connections=1...5",
                           "connections=1..5x", "connections=1..5y2", "connections=-1", "connections=1.5"})
    EXPECT_NE(problem_of(text), "no problem") << text;
}

TEST(Sweep, EachValueIsACaseOfTheSameRace) {
  Scenario scenario = fake_scenario({"threads", "epoll"});
  ASSERT_TRUE(apply(swept("connections=1,64"), scenario, fake_catalogue()));
  ASSERT_EQ(scenario.cases.size(), 2U);
  EXPECT_EQ(scenario.cases[1].name, "connections=64");
  EXPECT_EQ(scenario.cases[1].load.connections, 64U);
  ASSERT_TRUE(scenario.cases[1].point);
  EXPECT_EQ(scenario.cases[1].point->value, 64);
  EXPECT_EQ(scenario.cases[1].point->of, "main");
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  std::vector<std::size_t> firsts;
  for (std::uint64_t round = 1; round <= 10; ++round) {
    const auto order = cases_in_order(plan, round);
    EXPECT_EQ(order.size(), 2U);
    firsts.push_back(order.front());
  }
  EXPECT_GT(std::ranges::count(firsts, 0), 0) << "no case is always the last";
  EXPECT_GT(std::ranges::count(firsts, 1), 0);
}

TEST(Sweep, EveryAxisSetsItsNumber) {
  const auto first = [](const std::string& sweep) {
    Scenario scenario = fake_scenario({"threads", "epoll"});
    EXPECT_TRUE(apply(swept(sweep), scenario, fake_catalogue()));
    return scenario;
  };
  EXPECT_EQ(first("payload=1KiB").cases[0].load.payload, 1024U);
  EXPECT_EQ(first("payload=1KiB").cases[0].name, "payload=1KiB");
  EXPECT_EQ(first("depth=16").cases[0].load.depth, 16U);
  EXPECT_EQ(first("rate=2.5k").cases[0].load.rate_per_s, 2500.0);
  Scenario threads = fake_scenario({"pool", "epoll"});
  ASSERT_TRUE(apply(swept("threads=1,2"), threads, fake_catalogue()));
  EXPECT_EQ(most_loops(threads, &Contestant::server), 2U) << "that many CPUs are needed";
  const Plan plan = make_plan(threads, fake_catalogue(), 1);
  EXPECT_EQ(plan.cases[0].entries[1].contestant.server.threads, 1U);
  EXPECT_EQ(plan.cases[1].entries[1].contestant.server.threads, 2U);
}

TEST(Sweep, EveryServerMustHaveTheThreads) {
  EXPECT_EQ(
      refused(swept("threads=1,2")),
      "a sweep over threads: the number means nothing to engine 'threads', so all of its points would be "
      "the same; allowed: epoll, pool");
  EXPECT_EQ(refused(swept("threads=0..2"), fake_scenario({"pool", "epoll"})),
            "a sweep over threads: engine 'epoll' cannot have 0 threads; allowed: 1 to 1024 (0, which means "
            "no workers, only for pool)");
  EXPECT_EQ(refused(swept("threads=0,2"), fake_scenario({"pool"})), "no problem");
}

TEST(Sweep, AValueThatTheLoadCannotHaveIsRefused) {
  Scenario work = fake_scenario({"epoll"});
  work.cases[0].protocol = "work";
  EXPECT_EQ(refused(swept("payload=1KiB,4KiB"), work),
            "--sweep: a payload of 4096 bytes is impossible for protocol 'work'; allowed: 1 to 2048");
  Scenario slow = fake_scenario({"epoll"});
  slow.cases[0].load.rate_per_s = 1;
  EXPECT_EQ(
      refused(swept("connections=1,500000"), slow),
      "--sweep: -R,--rate: with 1 messages a second each of 500000 connections would send less than once "
      "a day; use fewer connections (-c)");
}

TEST(Sweep, AFlagForTheSameNumberExcludesIt) {
  Overrides given = swept("connections=1..3");
  given.load = {{"connections", "5"}};
  EXPECT_EQ(refused(given), "--sweep connections and --connections exclude each other; allowed: one of them");
  Overrides rates = swept("rate=1k");
  rates.rates = "30%";
  EXPECT_EQ(refused(rates), "--sweep rate and --rates exclude each other; allowed: one of them");
  EXPECT_TRUE(refused(swept("conections=1")).starts_with("--sweep: there is no axis"));
}

TEST_F(ScenarioFile, ASweepIsAListOrARange) {
  const auto scenario = read(R"(
load = { duration = "1s" }
matrix = { servers = ["epoll"] }
sweep = { connections = [1, "4k", "10..12"] }
[[case]]
name = "a"
[[case]]
name = "b"
sweep = { depth = "1..16x4" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases[0].sweep->values, (Values{1, 4000, 10, 11, 12}));
  EXPECT_EQ(scenario->cases[1].sweep->axis, "depth");
  Scenario expanded = *scenario;
  ASSERT_TRUE(apply({}, expanded, fake_catalogue()));
  ASSERT_EQ(expanded.cases.size(), 8U);
  EXPECT_EQ(expanded.cases[7].name, "b depth=16");
}

TEST_F(ScenarioFile, AFlagTakesThePlaceOfASweep) {
  auto scenario = read(R"(
load = { duration = "1s" }
matrix = { servers = ["epoll"] }
sweep = { connections = "1..3" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  Scenario fixed = *scenario;
  Overrides given;
  given.load = {{"connections", "7"}};
  ASSERT_TRUE(apply(given, fixed, fake_catalogue()));
  ASSERT_EQ(fixed.cases.size(), 1U);
  EXPECT_EQ(fixed.cases[0].load.connections, 7U);
  Scenario other = *scenario;
  ASSERT_TRUE(apply(swept("depth=1,2"), other, fake_catalogue()));
  EXPECT_EQ(other.cases.size(), 2U);
}

TEST_F(ScenarioFile, AWrongSweepIsToldWithItsPlace) {
  const std::string rest = "load = { duration = \"1s\" }\nmatrix = { servers = [\"epoll\"] }\n";
  EXPECT_EQ(
      problem(rest + "sweep = { connections = [] }\n"),
      "3:11: key 'sweep.connections': connections has an empty value; allowed: values such as 64,512 or "
      "1..20");
  EXPECT_EQ(
      problem(rest + "sweep = { conections = 5 }\n"),
      "3:11: key 'sweep.conections': there is no axis 'conections'; allowed: connections, payload, depth, "
      "threads, rate; did you mean 'connections'?");
  EXPECT_EQ(problem(rest + "sweep = { depth = 5, connections = 5 }\n"),
            "3:1: key 'sweep': allowed: one axis, such as connections = \"1..20\"");
  EXPECT_EQ(problem("load = { duration = \"1s\", rates = [5] }\nmatrix = { servers = [\"epoll\"] }\n"
                    "sweep = { rate = 5 }\n"),
            "3:1: key 'sweep': both rates and a sweep over the rate are given; allowed: one of them");
}

TEST_F(ScenarioFile, HasTheSizeThatIsAskedFor) {
  const std::string text = R"(
load = { duration = "1s", connections = 9 }
matrix = { servers = ["epoll"] }
[quick]
load = { connections = 2 }
[[case]]
name = "a"
full = { load = { messages = 1000 }, sweep = { depth = "1..4" } }
[[case]]
name = "b"
)";
  ASSERT_EQ(problem(text), "no problem");
  const auto sized = [&](Size size) { return read_scenario(path_, fake_catalogue(), size).value(); };
  EXPECT_EQ(sized(Size::usual).cases[0].load.connections, 9U);
  EXPECT_FALSE(sized(Size::usual).cases[0].load.messages);
  EXPECT_EQ(sized(Size::quick).cases[1].load.connections, 2U);
  const Scenario full = sized(Size::full);
  EXPECT_EQ(full.cases[0].load.connections, 9U);
  EXPECT_EQ(full.cases[0].load.messages, 1000U);
  EXPECT_TRUE(full.cases[0].sweep);
  EXPECT_FALSE(full.cases[1].load.messages);
}

TEST_F(ScenarioFile, ASizeIsReadAlsoWhereItIsNotWanted) {
  const std::string rest = "load = { duration = \"1s\" }\nmatrix = { servers = [\"epoll\"] }\n";
  EXPECT_EQ(problem(rest + "full = { load = { conections = 5 } }\n"),
            "3:19: key 'full.load.conections': unknown key; allowed: connections, messages, "
            "messages_per_connection, duration, warmup, "
            "interval, rate, arrivals, phase, burst, depth, payload, reconnect, backoff, reconnect_for, tls, "
            "tls_ca, "
            "tls_name, tls_insecure, rates; did you mean 'connections'?");
  ASSERT_TRUE(read(rest));
  const auto full = read_scenario(path_, fake_catalogue(), Size::full);
  ASSERT_FALSE(full);
  EXPECT_TRUE(full.error().ends_with("this scenario has no full size (a table [full]); leave out --full"))
      << full.error();
}

}  // namespace
}  // namespace joust::race
