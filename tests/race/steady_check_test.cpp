// SPDX-License-Identifier: MIT
// Check 6.
#include "race/checks_fixture.hpp"
#include "stats/noise.hpp"

namespace joust::race {
namespace {

using stats::Random;
using stats::noise::Shape;

// A figure of a part of a trial as a factor, by the time within the trial: from 0 to 1.
using Course = std::function<double(double time)>;

double warming_up(double time) {
  return time < 0.5 ? 0.9 : 1.0;
}
double leaking(double time) {
  return 1 - 0.12 * time;
}

class SteadyState : public Checks {
 protected:
  struct Noise {
    Shape shape = stats::noise::normal;
    double of_part = 0;     // of each part of each contestant
    double of_machine = 0;  // of all contestants: of each part, with a memory of the parts before
    double drift = 0;       // of all contestants: from the beginning of a round to its end
  };

  SteadyState() { result = race(); }

  // Replaces what was measured by made-up slices, or by turns.
  void make_up(const Noise& noise, const std::map<std::string, Course>& planted) {
    CaseResult& one = result.cases.front();
    for (std::uint64_t round = 1; round <= scenario.rounds; ++round) {
      const double drift = noise.drift * noise.shape(random);
      std::vector<double> machine(parts());
      double memory = 0;
      for (double& each : machine) each = memory = 0.7 * memory + noise.of_machine * noise.shape(random);
      for (Entry& each : one.entries)
        for (Trial& trial : each.trials) {
          if (trial.round != round || !each.is_contestant()) continue;
          const auto course = planted.find(each.contestant.name);
          begin(trial);
          for (std::size_t part = 0; part < parts(); ++part) {
            const double time = (static_cast<double>(part) + 0.5) / static_cast<double>(parts());
            const double factor = course == planted.end() ? 1 : course->second(time);
            const double luck = machine[part] + drift * time + noise.of_part * noise.shape(random);
            add(trial, part, factor, std::exp(luck));
          }
        }
    }
  }

  CheckResult found(const Noise& noise, const std::map<std::string, Course>& planted) {
    make_up(noise, planted);
    return find_check(6)->look(result, result.cases.front());
  }

  void take_turns() { result.cases.front().plan.load.turns = true; }
  bool in_turns() const { return result.cases.front().plan.load.turns; }
  std::size_t parts() const { return in_turns() ? 60 : 10; }
  void begin(Trial& trial) const {
    trial.turns.clear();
    trial.load->slices.clear();
  }
  // The cost of a message hardly depends on what else runs.
  void add(Trial& trial, std::size_t part, double factor, double luck) const {
    const double messages = 10'000 * factor * luck;
    if (!in_turns()) return trial.load->slices.push_back(static_cast<std::uint64_t>(messages));
    trial.turns.push_back({.number = part + 1,
                           .window_s = 0.02,
                           .verified = static_cast<std::uint64_t>(messages),
                           .messages = static_cast<std::uint64_t>(messages),
                           .turn_s = 0.02,
                           .server_cpu_s = 1e-6 * messages / factor * std::pow(luck, -0.2)});
  }

  RaceResult result;
  Random random{21};
};

TEST_F(SteadyState, AWarmUpInTheTrialsOfOneContestantIsTold) {
  const CheckResult check = found({.of_part = 0.02}, {{"epoll", warming_up}});
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(check.detail.starts_with("epoll: throughput rises by 1")) << check.detail;
  EXPECT_TRUE(has(check.detail,
                  "from the first half of a trial to the second, compared with the others; a "
                  "longer warm-up (-w, now 300 ms)"))
      << check.detail;
  EXPECT_FALSE(has(check.detail, "threads")) << check.detail;
}

TEST_F(SteadyState, AServerThatSlowsDownIsTold) {
  const CheckResult check = found({.of_part = 0.01}, {{"io-uring", leaking}});
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(check.detail.starts_with("io-uring: throughput falls by ")) << check.detail;
  EXPECT_TRUE(has(check.detail, "the figure depends on the duration (-d, now 1.00 s)")) << check.detail;
}

TEST_F(SteadyState, ASlopeIsSeenThatHardlyChangesTheHalves) {
  const Course slightly = [](double time) { return 1 - 0.06 * time; };
  const CheckResult check = found({.of_part = 0.001}, {{"epoll", slightly}});
  EXPECT_TRUE(has(check.detail, "epoll: throughput falls by 5.")) << check.detail;
  EXPECT_TRUE(has(check.detail, "from the beginning of a trial to its end")) << check.detail;
}

TEST_F(SteadyState, InTurnsADriftOfTheMachineIsNoneOfAContestant) {
  take_turns();
  const Noise noise{.of_part = 0.03, .of_machine = 0.05, .drift = 0.3};
  EXPECT_EQ(found(noise, {}).verdict, Verdict::pass);
  const std::map<std::string, Course> planted{{"epoll: throughput rises by 1", warming_up},
                                              {"epoll: throughput falls by ", leaking}};
  for (const auto& [words, course] : planted) {
    const CheckResult check = found(noise, {{"epoll", course}});
    EXPECT_EQ(check.verdict, Verdict::warn);
    EXPECT_TRUE(check.detail.starts_with(words)) << check.detail;
    EXPECT_TRUE(has(check.detail, "half of a generation to the second, compared with the others"))
        << check.detail;
    EXPECT_EQ(check.detail.find("; ", check.detail.find("; ") + 1), std::string::npos)
        << "nobody else: " << check.detail;
  }
}

TEST_F(SteadyState, ACostThatGrowsIsSeenWhereThroughputIsTooNoisy) {
  take_turns();
  const CheckResult check = found({.of_part = 0.3}, {{"threads", leaking}});
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(check.detail.starts_with("threads: server CPU time per message rises by ")) << check.detail;
  EXPECT_TRUE(has(check.detail, "the figure depends on the duration")) << check.detail;
}

TEST_F(SteadyState, OfTwoContestantsTheOneThatChangesIsNamed) {
  scenario = fake_scenario({"threads", "epoll"}, 10);
  result = race();
  const CheckResult check = found({.of_part = 0.01}, {{"threads", warming_up}});
  EXPECT_TRUE(check.detail.starts_with("threads: throughput rises")) << check.detail;
  EXPECT_FALSE(has(check.detail, "epoll")) << check.detail;
}

TEST_F(SteadyState, ALoneContestantIsComparedWithItself) {
  scenario = fake_scenario({"epoll"}, 10);
  result = race();
  const CheckResult check = found({.of_part = 0.01}, {{"epoll", warming_up}});
  EXPECT_TRUE(has(check.detail, "epoll: throughput rises by 1")) << check.detail;
  EXPECT_FALSE(has(check.detail, "the others")) << check.detail;
}

TEST_F(SteadyState, AWarmUpThatAllNeedIsThatOfAll) {
  const CheckResult check =
      found({.of_part = 0.02}, {{"threads", warming_up}, {"epoll", warming_up}, {"io-uring", warming_up}});
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(check.detail.starts_with("all contestants: throughput rises by at least ")) << check.detail;
}

// Quiet and noisy, with and without turns: chance is found in one race of a hundred at most.
TEST_F(SteadyState, NoiseIsNoTrend) {
  constexpr Shape kNoises[] = {stats::noise::normal, stats::noise::laplace, stats::noise::skewed,
                               stats::noise::heavy_tailed};
  constexpr int kRaces = 50;
  int races = 0, told = 0;
  for (const std::uint64_t rounds : {3, 5, 8, 12})
    for (const bool turns : {false, true}) {
      scenario = fake_scenario({"threads", "epoll", "io-uring"}, rounds);
      result = race();
      result.cases.front().plan.load.turns = turns;
      for (const Shape shape : kNoises)
        for (const double size : {0.005, 0.1}) {
          const Noise noise{.shape = shape, .of_part = size, .of_machine = size, .drift = 2 * size};
          for (int i = 0; i < kRaces; ++i) told += found(noise, {}).verdict != Verdict::pass;
          races += kRaces;
        }
    }
  EXPECT_LE(told, races / 100);
}

TEST_F(SteadyState, AWarmUpIsFoundInNearlyAllRaces) {
  take_turns();
  int seen = 0;
  constexpr int kRaces = 40;
  for (int i = 0; i < kRaces; ++i)
    seen += has(found({.of_part = 0.05, .of_machine = 0.1, .drift = 0.2}, {{"epoll", warming_up}}).detail,
                "epoll: throughput rises");
  EXPECT_GE(seen, kRaces - 2);
}

TEST_F(SteadyState, TwoTrialsShowNothing) {
  scenario.rounds = 2;
  result = race();
  const CheckResult check = find_check(6)->look(result, result.cases.front());
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(check.detail.starts_with("nothing to check: 2 trials")) << check.detail;
}

TEST_F(SteadyState, AFewMessagesInEachPartShowNothing) {
  for (Entry& each : result.cases.front().entries)
    for (Trial& trial : each.trials) trial.load->slices.assign(10, 1);
  EXPECT_TRUE(has(find_check(6)->look(result, result.cases.front()).detail, "nothing to check: 0 trials"));
}

TEST_F(SteadyState, ACountOfMessagesAndAScheduleHaveNoneToCheck) {
  make_up({}, {{"epoll", warming_up}});
  LoadPlan& load = result.cases.front().plan.load;
  load.interval = std::chrono::milliseconds(10);
  EXPECT_EQ(find_check(6)->look(result, result.cases.front()).verdict, Verdict::pass);
  load.interval = {};
  load.messages = 300;
  EXPECT_EQ(find_check(6)->look(result, result.cases.front()).verdict, Verdict::pass);
}

// Throughput is given there, and the cost is not.
TEST_F(SteadyState, OfAnOpenLoopTheCostOfTurnsIsLookedAt) {
  result.cases.front().plan.load.rate_per_s = 5000;
  const CheckResult whole = found({}, {{"epoll", leaking}});
  EXPECT_EQ(whole.verdict, Verdict::warn);
  EXPECT_TRUE(has(whole.detail, "not checked: throughput is given")) << whole.detail;
  take_turns();
  const CheckResult turns = found({.of_part = 0.01}, {{"epoll", leaking}});
  EXPECT_EQ(turns.verdict, Verdict::warn);
  EXPECT_TRUE(has(turns.detail, "epoll: server CPU time per message rises by")) << turns.detail;
  EXPECT_FALSE(has(turns.detail, "throughput")) << turns.detail;
}

}  // namespace
}  // namespace joust::race
