// SPDX-License-Identifier: MIT
#include "report/race_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "report/golden.hpp"
#include "report/page_document.hpp"

namespace joust::report {
namespace {

// With all tables and checks.
std::string details_of(const race::RaceResult& result, const Terminal& terminal = {}) {
  return race_table(result, terminal, true);
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, width_of(line));
  return widest;
}

TEST(RaceTable, APlainRace) {
  const std::string text = race_table(plain_race(), {});
  expect_golden(text, "race_plain.txt");
  EXPECT_LE(widest_line(text), 120U);
}

TEST(RaceTable, TheAnswerIsInTheFirstFiveLinesOfAScreen) {
  const std::string text = race_table(plain_race(), {.columns = 100});
  EXPECT_LE(lines_of(text), 25U) << text;
  EXPECT_LT(lines_of(text.substr(0, text.find("io-uring is faster"))), 5U) << text;
  EXPECT_FALSE(text.contains("PASS")) << "a check that has passed is silent";
}

TEST(RaceTable, DetailsHaveAllTablesAndChecks) {
  const std::string text = details_of(plain_race());
  expect_golden(text, "race_details.txt");
  EXPECT_LE(widest_line(text), 120U);
}

TEST(RaceTable, ATroubledRaceOfTwoCases) {
  const std::string text = race_table(troubled_race(), {});
  expect_golden(text, "race_troubled.txt");
  EXPECT_LE(widest_line(text), 120U);
}

// The client was the limit of two of them; their costs are those of the figures.
TEST(RaceTable, BoundsStandAfterFiguresByCost) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "io-uring"}, 10);
  race::FakeRunner runner;
  runner.throughput = {{"threads", 50e3}, {"epoll", 68e3}, {"io-uring", 106e3}};
  runner.alter = [](const race::TrialOrder& order, std::size_t, race::Trial& trial) {
    trial.pinned = trial.machine;
    if (order.entry.contestant.name != "epoll" && order.entry.contestant.name != "io-uring") return;
    trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.59;
    trial.server.usage->user_s = 0.2, trial.server.usage->system_s = 0.5;
  };
  const std::string text = race_table(judged(scenario, runner), {});
  expect_golden(text, "race_bounds.txt");
}

TEST(RaceTable, SeveralLoopsAreNamed) {
  race::RaceResult result = plain_race();
  const auto head = [&] {
    const std::string text = race_table(result, {.columns = 200});
    return text.substr(0, text.find("\n\n") + 1);
  };
  for (race::Contestant& each : result.scenario.contestants) each.client.threads = 2;
  EXPECT_TRUE(head().contains("server on CPU 0, client on CPU 1, 2 loops\n")) << head();
  result.scenario.contestants.back().client.threads = 1;
  EXPECT_TRUE(head().contains("client on CPU 1, 1 to 2 loops\n")) << head();
}

TEST(RaceTable, AnOpenLoopShowsLatencyFirst) {
  const std::string text = race_table(open_race(), {});
  expect_golden(text, "race_open.txt");
  EXPECT_LE(widest_line(text), 120U);
  EXPECT_EQ(text.find("█"), std::string::npos) << "throughput is given";
}

TEST(RaceTable, WhereMessagesMayBeLostTheirShareHasAColumn) {
  const std::string text = race_table(lossy_race(), {});
  expect_golden(text, "race_lossy.txt");
  EXPECT_LE(widest_line(text), 120U);
  const std::string open = race_table(lossy_race(5000), {});
  EXPECT_NE(open.find("  lost\n"), std::string::npos) << open;
  EXPECT_EQ(race_table(plain_race(), {}).find("lost"), std::string::npos);
}

TEST(RaceTable, WhereFilesAreCarriedTheirBytesHaveAColumn) {
  race::RaceResult result = plain_race();
  EXPECT_EQ(race_table(result, {}).find("MB/s"), std::string::npos);
  for (race::Entry& entry : result.cases[0].entries)
    if (entry.is_contestant()) entry.summary.mb_per_s = 1548.2507561779155;
  expect_golden(race_table(result, {}), "race_files.txt");
  for (const std::size_t columns : {110U, 80U, 48U}) {
    const std::string text = details_of(result, {.columns = columns});
    EXPECT_LE(widest_line(text), columns) << text;
    for (const char* figure : {"MB/s", " 1548", " 106k", " 9.70 ms"})
      EXPECT_NE(text.find(figure), std::string::npos) << figure << " in " << columns << "\n" << text;
  }
}

TEST(RaceTable, WithoutACostToCompareWithThereAreNoRatiosOfCosts) {
  race::RaceResult result = plain_race();
  EXPECT_NE(details_of(result).find("server: ratio to"), std::string::npos);
  for (race::Entry& entry : result.cases[0].entries) entry.summary.cost_ratio.reset();
  const std::string text = details_of(result);
  EXPECT_EQ(text.find("server: ratio to"), std::string::npos) << text;
  EXPECT_NE(text.find("CPU us/message"), std::string::npos) << text;
}

TEST(RaceTable, IntervalsSayTheirConfidenceTogether) {
  const auto table_of = [](const std::vector<std::string>& servers, std::uint64_t rounds) {
    race::FakeRunner runner;
    runner.throughput = {{"threads", 60e3}, {"epoll", 70e3}, {"io-uring", 80e3}};
    return race_table(judged(race::fake_scenario(servers, rounds), runner), {});
  };
  EXPECT_NE(table_of({"threads", "epoll"}, 3).find(" 95 % interval"), std::string::npos);
  EXPECT_NE(table_of({"threads", "epoll", "io-uring"}, 10).find(" 95 % together"), std::string::npos);
  EXPECT_EQ(table_of({"threads", "epoll"}, 1).find("% interval"), std::string::npos);
}

TEST(RaceTable, APercentileOfFewSamplesIsMarked) {
  race::RaceResult result = plain_race();
  EXPECT_EQ(race_table(result, {}).find('~'), std::string::npos);
  result.cases[0].entries[0].summary.latency = race::usual_latencies(3'770'000, 5000);
  const std::string text = race_table(result, {});
  EXPECT_NE(text.find("  ~7.54 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("~: fewer than 100 samples lie beyond it\n"), std::string::npos);
}

TEST(RaceTable, ANoteStandsUnderItOnce) {
  race::RaceResult result = plain_race();
  for (race::Entry& entry : result.cases[0].entries)
    for (race::Trial& trial : entry.trials) {
      if (entry.contestant.name.starts_with("threads")) trial.server.notes = {"it is tired"};
      if (entry.contestant.name == "epoll") trial.load->notes = {"it is tired"};
    }
  EXPECT_TRUE(race_table(result, {}).contains("\n  note: it is tired (threads, the client of epoll)\n"))
      << race_table(result, {});
}

TEST(RaceTable, AnIncompleteRaceSaysSoFirst) {
  race::RaceResult result = plain_race();
  result.complete = false;
  result.incomplete = "interrupted after 2 of 10 rounds";
  const std::string text = race_table(result, {});
  EXPECT_NE(text.find("INCOMPLETE: interrupted after 2 of 10 rounds\n"), std::string::npos);
}

TEST(RaceTable, WithoutAnyResultHasTheReasonsAlone) {
  race::FakeRunner runner;
  runner.alter = [](const race::TrialOrder&, std::size_t, race::Trial& trial) {
    trial.load.reset();
    trial.failure = "the command was not found";
  };
  const std::string text = race_table(judged(race::fake_scenario({"threads", "epoll"}, 3), runner), {});
  EXPECT_TRUE(text.contains("the command was not found")) << text;
  EXPECT_TRUE(text.contains("No contestant can be ranked")) << text;
  for (const char* empty : {"CPU us/message", "system calls/message", "WARN", "PASS"})
    EXPECT_FALSE(text.contains(empty)) << text;
}

TEST(RaceTable, ColoursAreForTerminalsOnly) {
  EXPECT_EQ(race_table(plain_race(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(details_of(plain_race(), {.colours = true}).find("\x1b[32mPASS"), std::string::npos);
}

TEST(RaceTable, ANarrowTerminalHasAllFiguresInLinesThatFit) {
  race::RaceResult result = plain_race();
  for (const std::size_t columns : {99U, 80U, 60U, 48U}) {
    const std::string text = details_of(result, {.columns = columns});
    EXPECT_LE(widest_line(text), columns) << text;
    for (const char* figure :
         {" 106k", " 1.56 ", "1.56 to 1.56", " 2.41 ms", " 9.70 ms", "11.4 MiB", " 0.020"})
      EXPECT_NE(text.find(figure), std::string::npos) << figure << " in " << columns << "\n" << text;
  }
  expect_golden(details_of(result, {.columns = 72}), "race_narrow.txt");
}

TEST(RaceTable, ABarGoesBeforeAFigureMoves) {
  const std::string text = race_table(plain_race(), {.columns = 85});
  EXPECT_EQ(text.find("█"), std::string::npos) << text;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with(" 1 ")) {
  }
  EXPECT_NE(line.find("106k"), std::string::npos) << text;
  EXPECT_NE(line.find(" ms"), std::string::npos) << text;
}

// Whatever text a scenario or a process has: it moves no cursor.
TEST(RaceTable, ControlCharactersAreEscaped) {
  constexpr const char* kEvil = "a\x1b[31mRED\a\u009b2J\u202e";
  constexpr const char* kShown = "a\\x1b[31mRED\\x07\\xc2\\x9b2J\\xe2\\x80\\xae";
  race::RaceResult troubled = troubled_race();
  race::RaceResult swept = swept_race();
  for (race::RaceResult* race : {&troubled, &swept}) {
    race->scenario.title = race->incomplete = kEvil;
    race->complete = false;
    for (race::CaseResult& one : race->cases) {
      one.plan.name += kEvil;
      one.plan.title = one.verdict = one.reference = kEvil;
      if (one.plan.point) one.plan.point->of = kEvil;
      for (race::CheckResult& check : one.checks) check.detail = kEvil;
      for (race::Entry& entry : one.entries) {
        entry.contestant.name += kEvil;
        entry.reason = entry.calls.reason = kEvil;
        for (race::Trial& trial : entry.trials) {
          trial.server.notes = trial.last_words = {kEvil};
          if (!trial.failure.empty()) trial.failure = kEvil;
          if (trial.load) trial.load->notes = {kEvil};
        }
      }
    }
    for (const std::size_t columns : {std::size_t{120}, std::size_t{60}}) {
      const std::string text = race_table(*race, {.columns = columns});
      for (const std::string_view obeyed : {"\x1b", "\a", "\u009b", "\u202e"})
        EXPECT_FALSE(text.contains(obeyed)) << text;
      EXPECT_TRUE(text.contains(kShown)) << text;
    }
    const std::string painted = race_table(*race, {.colours = true});
    EXPECT_FALSE(painted.contains("\x1b[31mRED")) << painted;
  }
}

TEST(Text, WrapsAtBlanksBehindAnIndent) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "one two\n  three");
  EXPECT_EQ(wrapped("unbreakable", 2, 5), "unbreakable");
}

TEST(Text, WidthsAreThoseOfCharactersNotOfBytes) {
  EXPECT_EQ(width_of("█▌–"), 3U);
  EXPECT_EQ(right("–", 3), "  –");
}

TEST(Text, FiguresKeepThreeDigits) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.0001), "<0.001");
  EXPECT_EQ(short_number(0.0234), "0.023");
  EXPECT_EQ(short_number(8.5312), "8.53");
  EXPECT_EQ(short_number(42.12), "42.1");
  EXPECT_EQ(short_number(1234.5), "1234");
}

}  // namespace
}  // namespace joust::report
