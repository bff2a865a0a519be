// SPDX-License-Identifier: MIT
#include "report/race_comparisons.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "race/set_up/rates.hpp"
#include "report/golden.hpp"
#include "report/page_document.hpp"
#include "report/race_json.hpp"
#include "report/race_table.hpp"

namespace joust::report {
namespace {

TEST(RaceSweep, StandsAtTheEndAsTablesAndCharts) {
  const race::RaceResult result = swept_race();
  const std::string text = sweeps_text(result, {});
  expect_golden(text, "race_sweep.txt");
  EXPECT_TRUE(race_table(result, {}).contains(text + "Loopback: no network"));
  EXPECT_EQ(sweeps_text(plain_race(), {}), "");
}

constexpr auto kManyValues = "connections=1,10,20,50,100,500,1000";

TEST(RaceSweep, OverManyValuesIsFoldedToWhatIsWrong) {
  const std::string text = race_table(swept_race(kManyValues), {});
  expect_golden(text, "race_folded.txt");
  EXPECT_EQ(text.find("latency"), std::string::npos) << "of no point";
  EXPECT_NE(text.find("\n  REFUSE 1,000: 3 answers verified: epoll: 2 of 2 trials failed"),
            std::string::npos);
  const auto document = nlohmann::json::parse(race_json(swept_race(kManyValues)));
  EXPECT_EQ(document["cases"].size(), 7U) << "the document has every point";
}

TEST(RaceSweep, FitsANarrowTerminal) {
  for (const char* sweep : {"connections=1..1000x10", kManyValues})
    for (const std::size_t columns : {80U, 60U, 48U}) {
      std::istringstream lines(sweeps_text(swept_race(sweep), {.columns = columns}));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), columns) << line;
    }
}

TEST(RaceSweep, OfARateIsAboutLatency) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll"}, 3);
  race::Overrides given;
  given.sweep = "rate=1k,2.5k";
  ASSERT_TRUE(race::apply(given, scenario, race::fake_catalogue()));
  race::FakeRunner runner;
  const std::string text = sweeps_text(judged(scenario, runner), {});
  EXPECT_TRUE(text.starts_with("\np99 latency over rate\n")) << text;
  EXPECT_NE(text.find("\n  2,500 "), std::string::npos) << text;
  EXPECT_EQ(text.find("messages/s"), std::string::npos) << "it is given: " << text;
}

race::RaceResult rated_race(const char* rates, const char* sweep = nullptr) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll"}, 3);
  race::Overrides given;
  given.rates = rates;
  if (sweep != nullptr) given.sweep = sweep;
  EXPECT_TRUE(race::apply(given, scenario, race::fake_catalogue()));
  std::map<std::string, race::Capacity> capacities;
  for (const race::Case& one : scenario.cases)
    capacities[one.one_of] = {.per_s = 15e3, .contestant = "threads"};
  race::set_rates(scenario, capacities);
  race::FakeRunner runner;
  return judged(scenario, runner);
}

TEST(RaceSweep, SeveralRatesAreASweepOverTheRate) {
  const race::RaceResult rated = rated_race("1k,30%");
  const std::string text = sweeps_text(rated, {});
  EXPECT_TRUE(text.starts_with("\np99 latency over rate\n")) << text;
  EXPECT_NE(text.find("\n        1,000 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  4,500 (30%) │"), std::string::npos) << "the chart: " << text;
  EXPECT_NE(text.find("server CPU us/message over rate\n"), std::string::npos) << text;
  EXPECT_TRUE(race_table(rated, {}).contains(text + "Loopback: no network"));
  EXPECT_NE(sweeps_text(rated_race("30%,50%", "connections=1,10"), {}).find("latency over connections"),
            std::string::npos)
      << "rates within a sweep are a curve each";
}

TEST(RaceSweep, OfFilesIsAboutTheirBytes) {
  race::RaceResult result = swept_race();
  for (race::CaseResult& one : result.cases)
    for (race::Entry& entry : one.entries)
      if (entry.is_contestant() && entry.summary.trials > 0) entry.summary.mb_per_s = 1548.25;
  EXPECT_TRUE(sweeps_text(result, {}).starts_with("\nMB/s over connections\n"));
}

TEST(RaceSweep, EachCaseThatWasSweptHasItsCurves) {
  race::Scenario scenario = race::fake_scenario({"threads"}, 3);
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "other";
  race::Overrides given;
  given.sweep = "payload=1KiB,4KiB";
  ASSERT_TRUE(race::apply(given, scenario, race::fake_catalogue()));
  race::FakeRunner runner;
  const std::string text = sweeps_text(judged(scenario, runner), {});
  for (const char* part : {"main: messages/s over payload\n", "other: messages/s over payload\n", "  4KiB "})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST(RaceSweep, TheDocumentHasTheAxis) {
  const auto document = nlohmann::json::parse(race_json(swept_race()));
  ASSERT_EQ(document["cases"].size(), 4U);
  EXPECT_EQ(document["cases"][2]["name"], "connections=100");
  EXPECT_EQ(document["cases"][2]["sweep"],
            nlohmann::json({{"axis", "connections"}, {"value", 100}, {"of", "main"}}));
  EXPECT_TRUE(nlohmann::json::parse(race_json(plain_race()))["cases"][0]["sweep"].is_null());
}

}  // namespace
}  // namespace joust::report
