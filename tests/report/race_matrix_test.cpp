// SPDX-License-Identifier: MIT
#include "report/race_comparisons.hpp"

#include <gtest/gtest.h>

#include "race/scenario/engine_choice.hpp"
#include "report/fake_race.hpp"
#include "report/golden.hpp"
#include "report/page/faces.hpp"
#include "report/page_document.hpp"
#include "report/race_table.hpp"

namespace joust::report {
namespace {

std::vector<race::Contestant> every_pair(const std::vector<EngineChoice>& servers,
                                         const std::vector<EngineChoice>& clients) {
  return race::with_clients(race::every_server(servers, race::fake_catalogue()), clients);
}

// Two clients meet three servers, and a pair of its own stands beside them.
race::RaceResult crossed_race() {
  race::Scenario scenario = race::fake_scenario({"epoll"}, 3);
  scenario.contestants = every_pair({{.engine = "threads"}, {.engine = "epoll"}, {.engine = "io-uring"}},
                                    {{.engine = "threads"}, {.engine = "epoll"}});
  scenario.contestants.push_back({.name = "beside",
                                  .server = {.engine = "epoll", .wait = "spin"},
                                  .command = {},
                                  .needs = {},
                                  .client = {.engine = "epoll", .wait = "spin"}});
  race::FakeRunner runner;
  runner.throughput = {{"threads/threads", 40e3}, {"threads/epoll", 50e3},    {"epoll/threads", 60e3},
                       {"epoll/epoll", 70e3},     {"io-uring/threads", 80e3}, {"io-uring/epoll", 90e3},
                       {"beside", 99e3}};
  return judged(scenario, runner);
}

TEST(RaceMatrix, HasARowForEachClientAndAColumnForEachServer) {
  const race::RaceResult result = crossed_race();
  const std::string text = matrix_text(result.cases.front(), {});
  expect_golden(text, "race_matrix.txt");
  EXPECT_TRUE(race_table(result, {}).contains(text + "Loopback: no network"));
  EXPECT_EQ(text.find("spin"), std::string::npos) << "a contestant beside the matrix";
}

TEST(RaceMatrix, ShowsAPairAsOftenAsItIsThere) {
  race::Scenario scenario = race::fake_scenario({"epoll"}, 3);
  scenario.contestants =
      every_pair({{.engine = "epoll"}, {.engine = "epoll"}}, {{.engine = "threads"}, {.engine = "poll"}});
  race::FakeRunner runner;
  runner.throughput = {
      {"epoll/threads", 40e3}, {"epoll/poll", 50e3}, {"epoll#2/threads", 60e3}, {"epoll#2/poll", 70e3}};
  const std::string text = matrix_text(judged(scenario, runner).cases.front(), {});
  for (const std::string shown : {"epoll#2", "400k", "500k", "601k", "701k"})
    EXPECT_NE(text.find(shown), std::string::npos) << shown << " in\n" << text;
}

TEST(RaceMatrix, NeedsSeveralClientsAndSeveralServers) {
  EXPECT_EQ(matrix_text(plain_race().cases.front(), {}), "");
}

TEST(RaceMatrix, AnUnrankedPairIsInBrackets) {
  race::RaceResult result = crossed_race();
  race::Entry& entry = result.cases.front().entries.front();
  entry.ranked = false;
  const std::string text = matrix_text(result.cases.front(), {});
  EXPECT_NE(text.find("(401k)"), std::string::npos) << text;
  EXPECT_NE(text.find("in brackets: not ranked"), std::string::npos) << text;
}

TEST(RaceMatrix, OfAPageHasTheSameBrackets) {
  race::RaceResult result = crossed_race();
  const auto matrix = [&] {
    const std::string html = page::html_page(page::document_of_race(result));
    return html.substr(html.find("Clients by servers"));
  };
  EXPECT_EQ(matrix().find("In brackets"), std::string::npos) << matrix();
  result.cases.front().entries.front().ranked = false;
  EXPECT_NE(matrix().find("(40.1k)"), std::string::npos) << matrix();
  EXPECT_NE(matrix().find("In brackets: not ranked"), std::string::npos) << matrix();
}

TEST(RaceMatrix, BracketsAreExplainedOnlyWhereThereAreSome) {
  race::RaceResult result = crossed_race();
  race::Entry& entry = result.cases.front().entries.front();
  entry.ranked = false;
  entry.summary = {};
  const std::string text = matrix_text(result.cases.front(), {});
  EXPECT_EQ(text.find("in brackets"), std::string::npos) << text;
}

TEST(RaceMatrix, ThePointsOfASweepHaveNone) {
  race::RaceResult result = crossed_race();
  result.cases.front().plan.point = {.axis = "connections", .value = 2, .of = "files"};
  EXPECT_EQ(matrix_text(result.cases.front(), {}), "");
}

}  // namespace
}  // namespace joust::report
