// SPDX-License-Identifier: MIT
#include "race/judgement/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/judgement/judge.hpp"
#include "race/run/race.hpp"

namespace joust::race {
namespace {

class AdviceOfARace : public testing::Test {
 protected:
  std::string advice() {
    RaceResult result = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
    result.cpus.server = server_cpus;
    judge(result);
    const Advice found = advice_of(result, result.cases.front());
    names_one = found.names_one;
    return found.text;
  }

  // The client of these has all of its CPU in use, their server half.
  void limit(const std::vector<std::string>& names) {
    runner.alter = [=](const TrialOrder& order, std::size_t, Trial& trial) {
      const std::string& name = order.entry.contestant.name;
      if (std::ranges::count(names, name.substr(0, name.find(kAgain))) == 0) return;
      trial.load->cpu.user_s = 0.4, trial.load->cpu.system_s = 0.59;
      trial.server.usage->user_s = 0.1, trial.server.usage->system_s = 0.4;
    };
  }

  bool names_one = false;  // the latest advice
  std::string server_cpus{};
  Scenario scenario = fake_scenario({"epoll", "threads", "io-uring"}, 10);
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(AdviceOfARace, NamesTheOneThatIsFasterThanAllOthers) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 60e3}, {"io-uring", 105e3}};
  const std::string text = advice();
  EXPECT_TRUE(text.starts_with("io-uring: it has 1.50x the throughput of epoll (1.")) << text;
  EXPECT_TRUE(text.contains("), it has 1.75x the throughput of threads (1.7")) << text;
  EXPECT_FALSE(text.contains("but")) << text;
  EXPECT_TRUE(names_one);
}

TEST_F(AdviceOfARace, ComparesCostsWhereTheClientWasTheLimit) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  limit({"epoll", "threads", "io-uring"});
  const std::string text = advice();
  EXPECT_TRUE(
      text.starts_with("io-uring: the client was the limit, and by cost it needs 33 % less CPU for a message "
                       "than that of epoll (33"))
      << text;
}

TEST_F(AdviceOfARace, SaysThatEqualsWillDo) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 50e3}, {"io-uring", 70e3}};
  EXPECT_EQ(advice(), "epoll or io-uring: either will do, they are equal within 3.0 %");
  EXPECT_TRUE(names_one) << "nobody has to guess";
}

TEST_F(AdviceOfARace, SaysHowManyCpusTheServerHad) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 50e3}, {"io-uring", 70e3}};
  server_cpus = "0-1";
  EXPECT_EQ(advice(),
            "with 2 CPUs for the server, epoll or io-uring: either will do, they are equal within 3.0 %");
}

TEST_F(AdviceOfARace, SaysThatNoDifferenceWasFound) {
  scenario.contestants.resize(2);
  runner.throughput = {{"epoll", 70e3}, {"threads", 71e3}};
  runner.wobble = {0.0, 0.06, -0.05, 0.04, -0.03, 0.05, -0.04, 0.02, 0.03, -0.06};
  const std::string text = advice();
  EXPECT_TRUE(text.starts_with("epoll or threads: either. With this traffic no difference was found"))
      << text;
}

TEST_F(AdviceOfARace, NeverCallsThemEqualBesideAFullClient) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 70e3}};
  limit({"epoll", "threads", "io-uring"});
  const std::string text = advice();
  EXPECT_TRUE(text.starts_with("epoll, threads or io-uring: not known, because the client was the limit"))
      << text;
  EXPECT_FALSE(text.contains("equal")) << text;
  EXPECT_FALSE(names_one);
}

TEST_F(AdviceOfARace, ConcludesNothingFromOneRound) {
  scenario.rounds = 1;
  runner.throughput = {{"epoll", 70e3}, {"threads", 70e3}, {"io-uring", 105e3}};
  EXPECT_TRUE(advice().starts_with("nothing can be advised about ")) << advice();
  EXPECT_FALSE(names_one);
}

TEST_F(AdviceOfARace, LeavesOutWhoGaveWrongAnswers) {
  runner.throughput = {{"epoll", 70e3}, {"threads", 60e3}, {"io-uring", 105e3}};
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.entry.contestant.name == "io-uring") trial.load->messages.failed = 3;
  };
  const std::string text = advice();
  EXPECT_TRUE(text.starts_with("epoll: it has 1.17x the throughput of threads (1.1")) << text;
  EXPECT_FALSE(text.contains("io-uring")) << text;
}

}  // namespace
}  // namespace joust::race
