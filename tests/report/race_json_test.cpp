// SPDX-License-Identifier: MIT
#include "report/race_json.hpp"
#include "race/figures/ranking.hpp"

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "report/fake_race.hpp"
#include "temporary_folder.hpp"

namespace joust::report {
namespace {

using nlohmann::json;

// What tests/validate_result.py says about a document: its exit code.
int validate(const std::string& document) {
  const std::string root = JOUST_SOURCE_DIR;
  const test::TemporaryFolder folder;
  const std::string path = folder.file("result.json");
  std::ofstream(path) << document;
  const std::string script = root + "/tests/validate_result.py", schema = root + "/docs/result.schema.json";
  const char* const command[] = {JOUST_PYTHON, script.c_str(), schema.c_str(), path.c_str(), nullptr};
  pid_t child = -1;
  if (::posix_spawn(&child, JOUST_PYTHON, nullptr, nullptr, const_cast<char* const*>(command), environ) != 0)
    return -1;
  int status = -1;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

#define SKIP_WITHOUT_VALIDATOR(code) \
  if ((code) == 77) GTEST_SKIP() << "python3-jsonschema is not installed"

void expect_valid(const std::string& document) {
  const int code = validate(document);
  SKIP_WITHOUT_VALIDATOR(code);
  EXPECT_EQ(code, 0);
}

TEST(RaceJson, ObeysItsSchema) {
  const int plain = validate(race_json(plain_race()));
  SKIP_WITHOUT_VALIDATOR(plain);
  EXPECT_EQ(plain, 0);
  EXPECT_EQ(validate(race_json(troubled_race())), 0);
  EXPECT_EQ(validate(race_json(open_race())), 0);
  EXPECT_EQ(validate(race_json(lossy_race())), 0);
  EXPECT_EQ(validate(race_json(swept_race())), 0);
}

race::RaceResult race_over_hosts() {
  race::RaceResult result = plain_race();
  for (const char* side : {"server", "load", "load"})
    result.hosts.push_back({.name = "h",
                            .side = side,
                            .address = "10.0.0.1",
                            .network = {.name = "eth0", .speed_mbit_per_s = 10000, .offloads = {"gro"}},
                            .clock_offset_s = -0.5,
                            .clock_error_s = 1e-5,
                            .environment = result.environment});
  return result;
}

TEST(RaceJson, HasTheHostsOfBothSides) {
  const std::string document = race_json(race_over_hosts());
  expect_valid(document);
  const json read = json::parse(document);
  ASSERT_EQ(read.at("hosts").size(), 3U);
  EXPECT_EQ(read.at("hosts")[1].at("side"), "load");
  EXPECT_EQ(read.at("hosts")[1].at("network").at("speed_mbit_per_s"), 10000);
  EXPECT_EQ(read.at("network"),
            "Network: servers on h (10.0.0.1, eth0), loads on h (10.0.0.1, eth0), h (10.0.0.1, eth0).");
  EXPECT_TRUE(json::parse(race_json(plain_race())).at("hosts").empty()) << "loopback";
}

TEST(RaceJson, TheSchemaSeesAMissingFieldAndAForeignOne) {
  const json good = json::parse(race_json(plain_race()));
  json missing = good;
  missing["contestants"][0]["trials"][0]["server"].erase("cpu_user_s");
  const int code = validate(missing.dump());
  SKIP_WITHOUT_VALIDATOR(code);
  EXPECT_EQ(code, 1);
  json foreign = good;
  foreign["contestants"][0]["summary"]["throughput"] = 5;
  EXPECT_EQ(validate(foreign.dump()), 1);
}

TEST(RaceJson, ALoadDocumentObeysTheSameSchema) {
  const race::Scenario scenario = race::fake_scenario({"epoll"});
  expect_valid(race::load_document(scenario.cases.front(), {.engine = "epoll"},
                                   race::flawless_load(scenario.cases.front(), 1e5))
                   .dump());
}

TEST(RaceJson, HasWhatWasLostOrNullWhereNothingCanBe) {
  const json document = json::parse(race_json(lossy_race()));
  const auto loss = [&](int contestant) { return document["contestants"][contestant]["summary"]["loss"]; };
  EXPECT_EQ(loss(0)["lost"], 0);
  EXPECT_EQ(loss(1)["lost"], 3100);
  EXPECT_GT(loss(1)["of"], 900'000);
  EXPECT_TRUE(loss(2).is_null());
}

TEST(RaceJson, HoldsWhatOthersRelyOn) {
  const json document = json::parse(race_json(plain_race()));
  EXPECT_EQ(document["seed"], 4711);
  EXPECT_EQ(document["rounds"], 10);
  EXPECT_TRUE(document["environment"].is_object());
  EXPECT_TRUE(document["checks"][0].contains("verdict"));
  const json& io_uring = document["contestants"][2];
  EXPECT_EQ(io_uring["name"], "io-uring");
  EXPECT_EQ(io_uring["server"]["engine"], "io-uring");
  EXPECT_EQ(io_uring["client"]["engine"], "epoll");
  EXPECT_EQ(io_uring["ranked"], true);
  EXPECT_EQ(io_uring["place"]["first"], 1);
  EXPECT_NEAR(io_uring["summary"]["ratio"]["median"].get<double>(), 1.56, 0.02);
  EXPECT_LE(io_uring["summary"]["ratio"]["low"], io_uring["summary"]["ratio"]["median"]);
  const json& trial = io_uring["trials"][0];
  EXPECT_EQ(trial["round"], 1);
  EXPECT_EQ(trial["load"]["connections"]["ok"], 256);
  EXPECT_GT(trial["server"]["system_calls"], 100000);
}

TEST(RaceJson, HasEachContestantBesideEachThreshold) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "broken"}, 10);
  scenario.thresholds = {.below = 0.97, .cost_above = 1.03};
  race::FakeRunner runner;
  runner.throughput = {{"threads", 70e3}, {"epoll", 60e3}};
  const std::string text = race_json(judged(scenario, runner));
  const json document = json::parse(text);
  const json& thresholds = document["thresholds"];
  ASSERT_EQ(thresholds.size(), 4U);
  EXPECT_EQ(thresholds[0]["contestant"], "epoll");
  EXPECT_EQ(thresholds[0]["decision"], "beyond");
  EXPECT_LT(thresholds[0]["ratio"]["high"], 0.97);
  EXPECT_EQ(thresholds[1]["decision"], "undecided");
  EXPECT_TRUE(thresholds[1]["ratio"].is_null());
  EXPECT_EQ(thresholds[2]["figure"], "server_cpu_us_per_message");
  EXPECT_EQ(thresholds[2]["fails"], "above");
  EXPECT_TRUE(json::parse(race_json(plain_race()))["thresholds"].empty());
  expect_valid(text);
}

TEST(RaceJson, HasADecisionForEveryPairAndFigure) {
  const json pairs = json::parse(race_json(plain_race()))["cases"][0]["pairs"];
  ASSERT_EQ(pairs.size(), 6u) << "three contestants, two figures";
  EXPECT_EQ(pairs[0]["figure"], "throughput");
  EXPECT_EQ(pairs[5]["figure"], "server_cpu_us_per_message");
  for (const json& pair : pairs) {
    EXPECT_LE(pair["ratio"]["low"], pair["ratio"]["estimate"]);
    EXPECT_LE(pair["ratio"]["estimate"], pair["ratio"]["high"]);
    EXPECT_EQ(pair["rounds"], 10);
  }
  std::map<std::string, int> decisions;
  for (const json& pair : pairs) ++decisions[pair["decision"]];
  EXPECT_EQ(decisions["differ"], 4) << "io-uring differs from both in both figures";
  EXPECT_EQ(decisions["equal"], 2);
}

TEST(RaceJson, HasWhatALookHasFound) {
  race::RaceResult race = plain_race();
  race::CaseResult& one = race.cases.front();
  one.looks_taken.push_back({.look = stats::Look::second,
                             .rounds = 10,
                             .at_s = 12.5,
                             .precise = true,
                             .ranking = one.ranking,
                             .costs = one.costs});
  const std::string text = race_json(race);
  const json json_case = json::parse(text)["cases"][0];
  const json& look = json_case["looks_taken"][0];
  EXPECT_EQ(look["look"], "second");
  EXPECT_EQ(look["rounds"], 10);
  EXPECT_EQ(look["at_s"], 12.5);
  EXPECT_EQ(look["precise"], true);
  EXPECT_EQ(look["pairs"], json_case["pairs"]);
  expect_valid(text);
}

TEST(RaceJson, HasTheTrialThatCountedCalls) {
  const json document = json::parse(race_json(plain_race()));
  const json& calls = document["contestants"][2]["call_count"];
  EXPECT_GT(calls["messages"], 0);
  EXPECT_EQ(calls["server"], 1.5 * calls["messages"].get<double>());
  EXPECT_EQ(calls["client"], 2.0 * calls["messages"].get<double>());
  const json& ceiling = document["contestants"].back();
  ASSERT_EQ(ceiling["kind"], "ceiling");
  EXPECT_EQ(ceiling["call_count"]["reason"], "not counted: there is no server");
}

TEST(RaceJson, HasTheThroughputsBehindACapacity) {
  race::RaceResult race = open_race();
  race.cases.front().plan.capacity = {
      .per_s = 9e3, .contestant = "threads", .measured = {{"epoll", 1e4}, {"threads", 9e3}}};
  const std::string text = race_json(race);
  const json measured = json::parse(text)["cases"][0]["capacity"]["measured"];
  EXPECT_EQ(measured["epoll"], 1e4);
  EXPECT_EQ(measured["threads"], 9e3);
  expect_valid(text);
}

TEST(RaceJson, LatenciesHaveIntervalsAndRatios) {
  const json document = json::parse(race_json(plain_race()));
  const json& summary = document["contestants"][2]["summary"];
  const json& p99 = summary["latency_ns"]["intervals"]["p99"];
  EXPECT_NEAR(p99["median"].get<double>(), 2e9 * 256 / 106e3, 1e5);
  EXPECT_LT(p99["low"], p99["high"]);
  EXPECT_NEAR(summary["latency_ratio"]["p99"]["median"].get<double>(), 67.9 / 106, 0.01);
  EXPECT_LE(summary["latency_ratio"]["p50"]["low"], summary["latency_ratio"]["p50"]["high"]);
}

TEST(RaceJson, AnOpenLoopIsRankedByLatency) {
  EXPECT_EQ(json::parse(race_json(plain_race()))["cases"][0]["ranked_by"], "throughput");
  const json document = json::parse(race_json(open_race()));
  const json& one = document["cases"][0];
  EXPECT_EQ(one["ranked_by"], "p99");
  EXPECT_EQ(one["load"]["rate_per_s"], 5000);
  EXPECT_EQ(one["load"]["arrivals"], "poisson");
  EXPECT_EQ(one["load"]["phase"], "spread");
  const json& io_uring = document["contestants"][2];
  EXPECT_EQ(io_uring["place"]["first"], 1);
  EXPECT_TRUE(io_uring["summary"]["ratio"].is_null());
  EXPECT_EQ(io_uring["summary"]["schedule"]["kept_fraction"], 1);
  EXPECT_EQ(io_uring["summary"]["schedule"]["send_lateness_ns"]["p99"], 10e3);
  EXPECT_FALSE(io_uring["trials"][0]["load"].contains("send_lateness_histogram_ns"));
}

TEST(RaceJson, AnUnboundedIntervalIsNull) {
  race::Scenario scenario = race::fake_scenario({"epoll", "threads"}, 1);
  race::FakeRunner runner;
  const json document = json::parse(race_json(judged(scenario, runner)));
  EXPECT_TRUE(document["contestants"][1]["summary"]["throughput_per_s"]["low"].is_null());
  EXPECT_TRUE(document["contestants"][1]["summary"]["throughput_per_s"]["confidence"].is_null());
  EXPECT_TRUE(document["cases"][0]["least_difference"].is_null());
}

TEST(RaceJson, ADifferenceThatOnlyTwiceTheThroughputWouldShowIsNull) {
  race::RaceResult race = plain_race();
  race.cases.front().ranking.least_difference = 1.6e49;  // of two rounds of a noisy machine
  race.cases.front().costs.least_difference = 0.5;
  const json one = json::parse(race_json(race))["cases"][0];
  EXPECT_TRUE(one["least_difference"].is_null());
  EXPECT_EQ(one["least_cost_difference"], 0.5);
}

TEST(RaceJson, LeavesHistogramsOut) {
  EXPECT_EQ(race_json(open_race()).find("histogram_ns"), std::string::npos);
}

TEST(RaceJson, SaysTheCoverageThatAnIntervalReaches) {
  race::FakeRunner runner;
  const json few = json::parse(race_json(judged(race::fake_scenario({"epoll", "threads"}, 3), runner)));
  EXPECT_NEAR(few["contestants"][1]["summary"]["throughput_per_s"]["confidence"], 0.75, 1e-9);
  EXPECT_NEAR(few["contestants"][1]["summary"]["ratio"]["confidence"], 0.95, 1e-9);
  const json enough = json::parse(race_json(plain_race()));
  EXPECT_NEAR(enough["contestants"][1]["summary"]["throughput_per_s"]["confidence"], 1 - 22.0 / 1024, 1e-9);
  EXPECT_NEAR(enough["contestants"][1]["summary"]["ratio"]["confidence"], 0.95, 1e-9);
}

TEST(RaceJson, BytesThatAreNoTextDoNotCostTheResult) {
  race::RaceResult result = plain_race();
  result.cases[0].entries[0].trials[0].failure = "it crashed";
  result.cases[0].entries[0].trials[0].last_words = {"\xff\xfe"};
  EXPECT_NO_THROW(json::parse(race_json(result)));
}

}  // namespace
}  // namespace joust::report
