// SPDX-License-Identifier: MIT
#include "report/race_plan.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "report/golden.hpp"
#include "report/race_progress.hpp"

namespace joust::report {
namespace {

TEST(RacePlan, ShowsCommandsAndOrder) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "broken"}, 3);
  scenario.contestants.push_back(race::racer("other, large"));
  scenario.contestants.back().command = "other --listen 'all of it' --port {port}";
  const race::Plan plan = make_plan(scenario, race::fake_catalogue(), 1);
  expect_golden(race_plan(scenario, plan, {.server = "0", .client = "1"}, "joust"), "race_plan.txt");
}

class Progress : public testing::Test {
 protected:
  Progress() { entry.contestant = race::racer("epoll"); }

  race::RaceObserver::Step step(std::size_t trial, bool counting = false) const {
    return {.round = 2,
            .rounds = 5,
            .trial = trial,
            .trials = 25,
            .entry = entry,
            .load_case = one,
            .counting = counting};
  }

  race::Entry entry;
  race::Case one;
};

TEST_F(Progress, TellsWhereTheRaceIsAndHowLongItTakes) {
  EXPECT_EQ(progress_line(step(6), 98e3, std::chrono::seconds(10)),
            "round 2/5  epoll         trial 6/25  [####................]  98.0k msg/s  eta 0:40");
}

TEST_F(Progress, PromisesNothingBeforeTheFirstTrialIsOver) {
  EXPECT_EQ(progress_line(step(1), 0, Duration(0)),
            "round 2/5  epoll         trial 1/25  [....................]");
}

TEST_F(Progress, NamesTheCountingPass) {
  EXPECT_TRUE(
      progress_line(step(25, true), 98e3, std::chrono::seconds(96)).starts_with("system calls  epoll"));
}

TEST_F(Progress, NamesTheValueOfASweep) {
  one.name = "connections=64";
  one.point = race::SweepPoint{.axis = "connections", .value = 64, .of = "main"};
  EXPECT_TRUE(progress_line(step(6), 0, {}).starts_with("round 2/5  connections=64  epoll  "));
}

// A race that ends by its time has no number of trials, not even in the counting pass.
TEST_F(Progress, OfARaceByTimeShowsTheTime) {
  race::RaceObserver::Step by_time{
      .round = 7, .trial = 29, .time = std::chrono::seconds(60), .entry = entry, .load_case = one};
  EXPECT_EQ(progress_line(by_time, 98e3, std::chrono::seconds(30)),
            "round 7  30.0 s of 60.0 s at most  [##########..........]  98.0k msg/s");
  by_time.interim = "to epoll: threads 0.41";
  EXPECT_TRUE(progress_line(by_time, 98e3, std::chrono::seconds(30))
                  .ends_with("round 7  30.0 s of 60.0 s  to epoll: threads 0.41"));
  by_time.warnings = {"the client of epoll is full (93 %)"};
  EXPECT_TRUE(progress_line(by_time, 98e3, std::chrono::seconds(30))
                  .ends_with("  to epoll: threads 0.41  ! last round: the client of epoll is full (93 %)"));
  by_time.warnings.clear();
  by_time.interim.clear();
  by_time.counting = true;
  EXPECT_EQ(progress_line(by_time, 0, std::chrono::seconds(61)),
            "system calls  61.0 s of 60.0 s at most  [####################]");
}

}  // namespace
}  // namespace joust::report
