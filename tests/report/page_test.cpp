// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "report/golden.hpp"
#include "report/page/faces.hpp"
#include "report/page_document.hpp"

namespace joust::report::page {
namespace {

using nlohmann::json;

const json& summary_of(const json& document, const std::string& name) {
  for (const json& one : document["contestants"])
    if (one["name"] == name) return one["summary"];
  throw std::runtime_error("no contestant " + name);
}

// All numbers that stand for this contestant: the marks whose titles begin with its name.
std::multiset<double> numbers_of(const Picture& picture, const std::string& name) {
  std::multiset<double> numbers;
  for (const DrawnMark& mark : marks_of(picture))
    if (mark.title.starts_with(name + ",") || mark.title.starts_with(name + ":")) numbers.insert(mark.value);
  return numbers;
}

TEST(Page, RatiosAndTheirDotsAreThoseOfTheDocument) {
  const race::RaceResult race = plain_race();
  const json document = json::parse(race_json(race));
  const Document read = document_of_race(race);
  for (const auto& [picture, key] :
       {std::pair("throughput-ratio", "ratio"), std::pair("cost-ratio", "cost_ratio")}) {
    const Picture drawn = picture_named(read, picture);
    for (const std::string name : {"io-uring", "epoll"}) {
      const double ratio = summary_of(document, name)[key]["median"];
      const std::multiset<double> numbers = numbers_of(drawn, name);
      EXPECT_EQ(numbers.size(), 11u) << "a dot for each round and the estimate";
      EXPECT_TRUE(numbers.contains(ratio)) << name;
      double sum = 0;
      for (const double number : numbers) sum += std::log(number);
      EXPECT_NEAR(std::exp((sum - std::log(ratio)) / 10), ratio, 1e-9) << "the mean of the dots is the ratio";
    }
  }
}

TEST(Page, MarksStandWhereTheAxisPutsTheirNumbers) {
  const Picture drawn = picture_named(document_of_race(plain_race()), "throughput-ratio");
  const std::vector<DrawnMark> ticks = ticks_of(drawn);
  ASSERT_GE(ticks.size(), 2u);
  const double slope =
      (ticks.back().x - ticks.front().x) / std::log(ticks.back().value / ticks.front().value);
  const auto place = [&](double value) {
    return ticks.front().x + slope * std::log(value / ticks.front().value);
  };
  for (const DrawnMark& tick : ticks) EXPECT_NEAR(tick.x, place(tick.value), 0.1);
  const std::vector<DrawnMark> marks = marks_of(drawn);
  EXPECT_EQ(marks.size(), 33u) << "two contestants and the reference again";
  for (const DrawnMark& mark : marks) EXPECT_NEAR(mark.x, place(mark.value), 0.1) << mark.title;
}

TEST(Page, LatencyCurvesHaveThePercentilesOfTheSummary) {
  const race::RaceResult race = plain_race();
  const json document = json::parse(race_json(race));
  const Picture drawn = picture_named(document_of_race(race), "latency");
  for (const std::string name : {"threads", "epoll", "io-uring"}) {
    std::multiset<double> wanted;
    for (const char* key : {"p50", "p90", "p99", "p999", "max"})
      if (const json& value = summary_of(document, name)["latency_ns"][key]; !value.is_null())
        wanted.insert(value.get<double>());
    EXPECT_EQ(numbers_of(drawn, name), wanted) << name;
  }
  for (const DrawnMark& one : marks_of(drawn))
    for (const DrawnMark& other : marks_of(drawn))
      if (one.value > other.value) {
        EXPECT_LE(one.y, other.y + 0.01) << one.title << "; " << other.title;
      }
}

TEST(Page, CpuBarsAddUpToTheTable) {
  const race::RaceResult race = plain_race();
  const json document = json::parse(race_json(race));
  const Picture drawn = picture_named(document_of_race(race), "cpu");
  std::map<std::string, double> sums, widths;
  for (const std::string& box : elements_of(drawn.content.str(), "rect")) {
    const std::string title = title_of_element(box), name = title.substr(0, title.find(": "));
    sums[name] += std::stod(attribute_of(box, "data-value"));
    widths[name] += std::stod(attribute_of(box, "width"));
  }
  for (const std::string name : {"threads", "epoll", "io-uring"}) {
    const json& summary = summary_of(document, name);
    const double all = summary["server_cpu_us_per_message"]["median"].get<double>() +
                       summary["cpu_us_per_message"]["client"].get<double>();
    EXPECT_NEAR(sums[name], all, 1e-9 * all) << name;
    EXPECT_NEAR(widths[name] / widths["epoll"], sums[name] / sums["epoll"], 0.01) << name;
  }
}

TEST(Page, ARaceRankedByLatencyComparesLatency) {
  const race::RaceResult race = open_race();
  const json document = json::parse(race_json(race));
  const Document read = document_of_race(race);
  const Picture drawn = picture_named(read, "latency-ratio");
  const double ratio = summary_of(document, "io-uring")["latency_ratio"]["p99"]["median"];
  EXPECT_TRUE(numbers_of(drawn, "io-uring").contains(ratio));
  EXPECT_NE(markdown_text(read).find("ratio of p99"), std::string::npos);
}

TEST(Page, ASweepHasACurveForEachContestant) {
  const race::RaceResult race = swept_race();
  const json document = json::parse(race_json(race));
  const Picture drawn = picture_named(document_of_race(race), "throughput-over-connections");
  std::multiset<double> wanted;
  for (const json& one : document["contestants"])
    if (one["kind"] == "contestant" && one["name"] == "threads")
      wanted.insert(one["summary"]["throughput_per_s"]["median"].get<double>());
  EXPECT_EQ(wanted.size(), 4u);
  EXPECT_EQ(numbers_of(drawn, "threads"), wanted);
}

TEST(Page, SeveralRatesAreACurveThoughTheirTrialsDifferInLength) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(race_json(open_race()));
  nlohmann::ordered_json faster = document["cases"][0];
  faster["name"] = "80%";
  faster["load"]["rate_per_s"] = 9000;
  faster["load"]["duration_s"] = 2.5;
  document["cases"].push_back(faster);
  nlohmann::ordered_json more = document["contestants"];
  for (nlohmann::ordered_json& one : more) {
    one["case"] = "80%";
    document["contestants"].push_back(one);
  }
  const auto read = read_document(document.dump());
  ASSERT_TRUE(read) << read.error();
  const Picture drawn = picture_named(*read, "latency-p99-over-rate");
  EXPECT_EQ(numbers_of(drawn, "threads").size(), 2u);
}

TEST(Page, TheTableHasEveryFigureExactly) {
  const race::RaceResult race = plain_race();
  const json document = json::parse(race_json(race));
  std::map<std::string, std::string> values;  // by contestant and key
  std::istringstream csv(csv_text(document_of_race(race)));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line,
            "case,contestant,kind,ranked,lower_bound,place,cost_place,figure,key,unit,value,low,high,"
            "verified");
  while (std::getline(csv, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() > 10 && line.find('"') == std::string::npos)
      values[cells[1] + " " + cells[8]] = cells[10];
  }
  for (const std::string name : {"threads", "epoll", "io-uring"}) {
    const json& summary = summary_of(document, name);
    EXPECT_EQ(std::stod(values[name + " ratio"]), summary["ratio"]["median"].get<double>());
    EXPECT_EQ(std::stod(values[name + " latency_ns.p99"]), summary["latency_ns"]["p99"].get<double>());
    EXPECT_EQ(std::stod(values[name + " peak_memory_bytes.server"]),
              summary["peak_memory_bytes"]["server"].get<double>());
  }
}

TEST(Page, TheCommentHasTheFiguresOfTheDocument) {
  const race::RaceResult race = plain_race();
  const json document = json::parse(race_json(race));
  const std::string comment = markdown_text(document_of_race(race));
  for (const std::string name : {"io-uring", "epoll"}) {
    const std::size_t at = comment.find("| " + name + " |");
    ASSERT_NE(at, std::string::npos) << comment;
    const std::string row = comment.substr(at, comment.find('\n', at) - at);
    const json& summary = summary_of(document, name);
    for (const char* key : {"ratio", "cost_ratio"})
      EXPECT_NE(row.find(fmt::format("| {:.3f} ({:.3f} to {:.3f}) |", summary[key]["median"].get<double>(),
                                     summary[key]["low"].get<double>(), summary[key]["high"].get<double>())),
                std::string::npos)
          << row;
    EXPECT_NE(row.find(fmt::format("| {:.2f} ms |",
                                   summary["latency_ns"]["intervals"]["p99"]["median"].get<double>() / 1e6)),
              std::string::npos)
        << row;
  }
}

TEST(Page, AllRacesHaveAllFaces) {
  for (const race::RaceResult& race : {plain_race(), open_race(), lossy_race(), lossy_race(5000),
                                       swept_race(), swept_race("connections=1..9"), troubled_race()}) {
    const Document document = document_of_race(race);
    EXPECT_FALSE(all_pictures(document).empty());
    EXPECT_NE(html_page(document).find("</html>"), std::string::npos);
    EXPECT_NE(markdown_text(document).find("| contestant |"), std::string::npos);
    EXPECT_NE(csv_text(document).find("\n"), std::string::npos);
    std::set<std::string> names;
    for (const Picture& one : all_pictures(document))
      EXPECT_TRUE(names.insert(one.name).second) << one.name << " would be written twice";
  }
}

TEST(Page, AnIntervalThatKnowsNothingIsNotDrawn) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(race_json(plain_race()));
  for (nlohmann::ordered_json& one : document["contestants"])
    if (one["name"] == "epoll") {
      one["summary"]["ratio"]["low"] = 1e-36;
      one["summary"]["ratio"]["high"] = 1e36;  // as two noisy rounds give
    }
  const auto read = read_document(document.dump());
  ASSERT_TRUE(read) << read.error();
  EXPECT_NE(markdown_text(*read).find("(interval not known)"), std::string::npos);
  EXPECT_NE(csv_text(*read).find(",1e-36,1e+36,"), std::string::npos);
  const std::vector<DrawnMark> ticks = ticks_of(picture_named(*read, "throughput-ratio"));
  ASSERT_FALSE(ticks.empty());
  EXPECT_LT(ticks.back().value, 10) << "the axis is made for the others";
}

TEST(Page, TwoBoundsHaveNoRatio) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(race_json(plain_race()));
  for (nlohmann::ordered_json& one : document["contestants"])
    if (one["kind"] == "contestant" && one["name"] != "io-uring") one["at_least"] = true;
  const auto read = read_document(document.dump());
  ASSERT_TRUE(read) << read.error();
  const std::string comment = markdown_text(*read);
  EXPECT_NE(comment.find("| epoll | ≥ 68.0k | – |"), std::string::npos) << comment;
  EXPECT_NE(comment.find("| ≤ 1.561 ("), std::string::npos) << comment;
  EXPECT_NE(html_page(*read).find("two bounds: no ratio"), std::string::npos);
}

TEST(Page, ShortWindowsHaveNoCost) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(race_json(plain_race()));
  for (const double duration_s : {0.05, 0.15}) {
    for (nlohmann::ordered_json& one : document["contestants"])
      for (nlohmann::ordered_json& trial : one["trials"]) trial["load"]["duration_s"] = duration_s;
    const auto read = read_document(document.dump());
    ASSERT_TRUE(read) << read.error();
    const Contestant* const epoll = read->cases.front().find("epoll");
    ASSERT_NE(epoll, nullptr);
    for (const Trial& round : epoll->counted)
      EXPECT_EQ(round.cost.has_value(), duration_s > 0.1) << duration_s;
  }
}

TEST(Page, ShowsWhyAContestantFailed) {
  const std::string html = html_page(document_of_race(troubled_race()));
  EXPECT_NE(html.find("the server was ended by signal 11"), std::string::npos);
  EXPECT_NE(html.find("joust: io_uring_enter: Bad address\ngiving up"), std::string::npos);
}

// What JUnit says of a race that ends so.
std::string junit_of(const race::RaceResult& race) {
  return junit_text(document_of_race(race));
}

TEST(Page, JUnitFailsIfAndOnlyIfTheExitCodeIsNotZero) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll"}, 5);
  race::FakeRunner contestant;
  contestant.throughput = {{"threads", 68e3}, {"epoll", 106e3}};
  EXPECT_TRUE(junit_of(judged(scenario, contestant)).contains(" failures=\"0\""));

  race::Scenario strict = scenario;
  strict.thresholds = {.below = 2, .undecided = race::Undecided::ok};
  const std::string beyond = junit_of(judged(strict, contestant));
  EXPECT_TRUE(beyond.contains("exit code 99: ")) << beyond;
  EXPECT_TRUE(beyond.contains(" failures=\"2\"")) << "the threshold, and the race as a whole\n" << beyond;

  race::RaceResult cut = judged(scenario, contestant);
  cut.complete = false;
  cut.incomplete = "interrupted by SIGINT";
  EXPECT_TRUE(junit_of(cut).contains("exit code 1: interrupted by SIGINT"));

  scenario.rounds = 1;
  const std::string empty = junit_of(judged(scenario, contestant));
  EXPECT_TRUE(empty.contains(" failures=\"1\"")) << empty;
  EXPECT_TRUE(empty.contains("exit code 3: the race tells nothing of its contestants")) << empty;
  EXPECT_TRUE(
      markdown_text(document_of_race(judged(scenario, contestant))).contains("Exit code 3: the race"));

  scenario.rounds = 5;
  contestant.alter = [](const race::TrialOrder& order, std::size_t, race::Trial& trial) {
    if (order.entry.contestant.name == "epoll") trial.load->messages.failed = 1;
  };
  EXPECT_FALSE(junit_of(judged(scenario, contestant)).contains(" failures=\"0\""));
  scenario.allow_unranked = scenario.allow_nothing = true;
  const std::string allowed = junit_of(judged(scenario, contestant));
  EXPECT_TRUE(allowed.contains(" failures=\"0\"")) << allowed;
}

// Returns markup with a line for each element, so that a change of one is a change of one line.
std::string by_lines(std::string markup) {
  for (std::size_t at = 0; (at = markup.find("><", at)) != std::string::npos; ++at)
    markup.insert(at + 1, "\n");
  return markup;
}

TEST(Page, LooksAsApproved) {
  race::RaceResult race = plain_race();
  race.command_line = {"joust", "race", "first-look", "--json", "a b.json"};
  race.started = "2026-01-31T09:30:00Z";
  const Document document = document_of_race(race);
  const std::string html = html_page(document);
  expect_golden(by_lines(html.substr(0, html.find("<h2>The result</h2>"))), "page_plain.html");
  expect_golden(markdown_text(document), "page_plain.md");
  expect_golden(csv_text(document), "page_plain.csv");
  expect_golden(by_lines(svg_file(picture_named(document, "latency"))), "page_latency.svg");
}

}  // namespace
}  // namespace joust::report::page
