// SPDX-License-Identifier: MIT
#include "race/scenario/load_toml.hpp"

#include <gtest/gtest.h>

#include "race/scenario_fixture.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ScenarioFile, AProtocolIsNoPartOfALoad) {
  const auto scenario = read(R"(
matrix = { servers = ["epoll"] }
[load]
protocol = "echo"
)");
  ASSERT_FALSE(scenario);
  EXPECT_NE(scenario.error().find("key 'load.protocol': no part of a load; allowed: protocol = at the top"),
            std::string::npos)
      << scenario.error();
}

TEST_F(ScenarioFile, ARateReplacesTheIntervalAndAnIntervalTheRate) {
  const auto scenario = read(R"(
load = { connections = 100, duration = "1s", interval = "10ms", phase = "together" }
matrix = { servers = ["epoll"] }
[[case]]
name = "open"
load = { rate = "5k", arrivals = "poisson" }
[[case]]
name = "slow"
load = { rate = 0.5, phase = "spread" }
[[case]]
name = "closed"
load = { interval = 0 }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  const LoadPlan& open = scenario->cases[0].load;
  EXPECT_EQ(open.rate_per_s, 5000.0);
  EXPECT_EQ(open.interval, Duration(0));
  EXPECT_EQ(open.arrivals, LoadPlan::Arrivals::poisson);
  EXPECT_EQ(open.phase, LoadPlan::Phase::together);
  EXPECT_EQ(pause_of(open), milliseconds(20));
  EXPECT_EQ(longest_pause_of(open), milliseconds(740));
  EXPECT_EQ(pause_of(scenario->cases[1].load), seconds(200));
  EXPECT_FALSE(scenario->cases[2].load.open_loop());
  EXPECT_EQ(scenario->cases[2].load.phase, LoadPlan::Phase::spread);
}

TEST_F(ScenarioFile, ACaseMayHaveSeveralRates) {
  const std::string end = "\nmatrix = { servers = [\"epoll\"] }\n";
  const auto scenario = read("load = { duration = \"1s\", rates = [\"30%\", \"1k\", 0.5] }" + end);
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cases.front().rates,
            (std::vector<Rate>{{.share = 0.3}, {.per_s = 1000}, {.per_s = 0.5}}));
  EXPECT_EQ(problem("load = { duration = \"1s\", rates = [\"30%\"], rate = 5 }" + end),
            "1:27: key 'load.rates': given beside rate or interval; allowed: one of them");
  EXPECT_EQ(problem("load = { duration = \"1s\", rates = \"30%\" }" + end),
            "1:27: key 'load.rates': wrong type; allowed: a list of rates (5000) and shares (\"30%\")");
  EXPECT_EQ(problem("load = { duration = \"1s\", rates = [\"1k\", 1000] }" + end),
            "1:27: key 'load.rates': '1000' is given twice");
  EXPECT_EQ(problem("load = { duration = \"1s\", rates = [\"120%\"] }" + end),
            "1:27: key 'load.rates': '120%' is not above 0 % and below 100 %; allowed: rates (5k) or shares "
            "of the capacity (30%)");
}

TEST_F(ScenarioFile, LostConnectionsMayComeBack) {
  const std::string end = "\nmatrix = { servers = [\"epoll\"] }\n";
  const auto scenario = read(R"(
load = { duration = "1s", reconnect = "always", backoff = "5ms..2s" }
matrix = { servers = ["epoll"] }
[[case]]
name = "back"
[[case]]
name = "constant"
load = { backoff = "10ms" }
[[case]]
name = "gone"
load = { reconnect = "never" }
)");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_TRUE(scenario->cases[0].load.reconnects());
  EXPECT_EQ(setting_text(load_setting("backoff"), scenario->cases[0].load), "5ms..2s");
  EXPECT_EQ(setting_text(load_setting("backoff"), scenario->cases[1].load), "10ms..10ms");
  EXPECT_FALSE(scenario->cases[2].load.reconnects());
  EXPECT_EQ(problem("load = { duration = \"1s\", reconnect = \"often\" }" + end),
            "1:27: key 'load.reconnect': 'often' is not allowed; allowed: never, always");
  EXPECT_EQ(problem("load = { duration = \"1s\", reconnect = \"always\", backoff = \"0..1s\" }" + end),
            "1:49: key 'load.backoff': 0s is out of range; allowed: 1ms to 3600s");
  EXPECT_EQ(problem("load = { duration = \"1s\", backoff = \"1s\" }" + end),
            "1:1: key 'load': backoff needs reconnect always");
}

TEST_F(ScenarioFile, AScheduleThatMeansNothingIsToldSo) {
  const std::string end = "\nmatrix = { servers = [\"epoll\"] }\n";
  EXPECT_EQ(
      problem("load = { duration = \"1s\", rate = \"5k\", interval = \"1ms\" }" + end),
      "1:27: key 'load.rate': rate and interval exclude each other: a rate is the open loop, an interval the "
      "closed schedule");
  EXPECT_EQ(problem("load = { messages = 10, rate = \"5k\" }" + end),
            "1:1: key 'load': rate needs a duration, and a number of messages is given; allowed: duration "
            "(-d) instead of messages (-m)");
  EXPECT_EQ(problem("load = { duration = \"1s\", rate = 0 }" + end),
            "1:27: key 'load.rate': '0' is not between 0.001 and 1G a second");
  EXPECT_EQ(problem("load = { duration = \"1s\", arrivals = \"poisson\" }" + end),
            "1:1: key 'load': arrivals needs a rate: without one no message has a time to arrive at");
  EXPECT_EQ(problem("load = { duration = \"1s\", phase = \"together\" }" + end),
            "1:1: key 'load': phase needs a rate or an interval: without a schedule each reply is followed "
            "by the next message");
}

}  // namespace
}  // namespace joust::race
