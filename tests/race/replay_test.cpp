// SPDX-License-Identifier: MIT
//
// Races between equal contestants that were recorded turn by turn on a shared machine with two CPUs
// (recorded/record.py), run again as races of fewer generations, without and with a planted difference.
#include <fstream>
#include <nlohmann/json.hpp>

#include "race/turn_race_fixture.hpp"

namespace joust::race {
namespace {

struct RecordedTurn {
  double per_s = 0, cpu_us = 0;
};
using RecordedEntry = std::vector<RecordedTurn>;
using RecordedGeneration = std::vector<RecordedEntry>;  // the contestants, and last the reference once more

std::map<std::string, std::vector<RecordedGeneration>> recorded_races() {
  std::ifstream file(std::string(JOUST_SOURCE_DIR) + "/tests/race/recorded/turns.json");
  std::map<std::string, std::vector<RecordedGeneration>> races;
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const auto& [name, generations] : document.items())
    for (const auto& generation : generations) {
      RecordedGeneration& entries = races[name].emplace_back();
      for (const auto& turns : generation) {
        RecordedEntry& entry = entries.emplace_back();
        for (const auto& turn : turns) entry.push_back({turn.at(0), turn.at(1)});
      }
    }
  return races;
}

const std::vector<std::string> kNames = {"threads", "epoll", "io-uring", "threads (again)"};
constexpr Duration kTurn = std::chrono::milliseconds(20);

// One recorded generation, in which the last contestant is slower by a planted factor.
class Replayed : public Generation {
 public:
  Replayed(const RecordedGeneration& recorded, double planted, std::vector<TrialOrder> orders)
      : recorded_(recorded), planted_(planted), orders_(std::move(orders)), turns_(orders_.size()) {}

  bool start(std::size_t) override { return true; }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool is_recorded) override {
    const double turn_s = std::chrono::duration<double>(size.time).count();
    const auto column = std::ranges::find(kNames, orders_[contestant].entry.contestant.name) - kNames.begin();
    if (!is_recorded || column == std::ssize(kNames)) return turn_of({1e6, 0}, turn_s);
    const RecordedEntry& turns = recorded_[static_cast<std::size_t>(column)];
    RecordedTurn turn = turns.at(turns_[contestant]++);
    if (kNames[static_cast<std::size_t>(column)] == "io-uring")
      turn = {turn.per_s / planted_, turn.cpu_us * planted_};
    return turn_of(turn, turn_s);
  }
  Trial finish(std::size_t contestant) override {
    Trial trial = flawless_trial(orders_[contestant], orders_[contestant].entry.in_process ? 1e8 : 1e5);
    trial.turns_s = 1;
    trial.load->set_usage({});  // the client is not the limit
    return trial;
  }

 private:
  static Turn turn_of(const RecordedTurn& turn, double turn_s) {
    const double messages = turn.per_s * turn_s;
    return {.window_s = 0.8 * turn_s,
            .verified = static_cast<std::uint64_t>(0.8 * messages),
            .messages = static_cast<std::uint64_t>(messages),
            .turn_s = turn_s,
            .server_cpu_s = messages * turn.cpu_us / 1e6};
  }

  const RecordedGeneration& recorded_;
  const double planted_;
  const std::vector<TrialOrder> orders_;
  std::vector<std::size_t> turns_;
};

class ReplayRunner : public FakeRunner {
 public:
  std::unique_ptr<Generation> generation(std::vector<TrialOrder> orders) override {
    return std::make_unique<Replayed>(recorded->at(next++), planted, std::move(orders));
  }
  const std::vector<RecordedGeneration>* recorded = nullptr;
  std::size_t next = 0;
  double planted = 1;
};

class Replays : public testing::Test {
 protected:
  struct Counts {
    int told = 0, of = 0;
    double share() const { return static_cast<double>(told) / of; }
  };

  // Judges every group of so many successive generations of each recorded race. Returns how often the last
  // contestant, or if nothing is planted any, is told from another one.
  Counts groups(std::size_t generations, const char* figure) {
    Counts counts;
    for (const auto& [name, race] : races_)
      for (std::size_t first = 0; first + generations <= race.size(); ++first) {
        const CaseResult one = raced(race, first, generations);
        const Comparison& pairs = *figure == 't' ? one.ranking : one.costs;
        counts.told += std::ranges::any_of(pairs.pairs, [&](const Pair& pair) {
          return (pair.decision == stats::Decision::differ || pair.decision == stats::Decision::slight) &&
                 (runner_.planted == 1 || pair.a == "io-uring" || pair.b == "io-uring");
        });
        ++counts.of;
      }
    return counts;
  }

  ReplayRunner runner_;

 private:
  CaseResult raced(const std::vector<RecordedGeneration>& race, std::size_t first, std::size_t generations) {
    Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"}, generations);
    Case& one = scenario.cases.front();
    one.protocol = "turns";
    std::size_t turns = race[first].front().size();  // those that every generation has
    for (std::size_t i = first; i < first + generations; ++i) turns = std::min(turns, race[i].front().size());
    one.load.duration = static_cast<std::int64_t>(turns) * kTurn * 4 / 5;
    runner_.recorded = &race;
    runner_.next = first;
    RaceObserver observer;
    const Stop stop;
    RaceResult result = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner_, observer, stop);
    judge(result);
    return result.cases.front();
  }

  const std::map<std::string, std::vector<RecordedGeneration>> races_ = recorded_races();
};

TEST_F(Replays, EqualsAreHardlyEverToldApart) {
  for (const char* figure : {"throughput", "cost"}) {
    Counts all;
    for (const std::size_t generations : {1, 2, 3, 6, 10}) {
      const Counts here = groups(generations, figure);
      all.told += here.told, all.of += here.of;
    }
    EXPECT_EQ(all.of, 263);
    EXPECT_LE(all.told, all.of / 100) << figure;
  }
}

TEST_F(Replays, APlantedDifferenceIsFound) {
  struct Planted {
    double factor;
    std::size_t generations;
    double by_throughput, by_cost;  // the least share of the groups that tell it
  };
  for (const Planted& one : {Planted{1.25, 2, 0.5, 0.8}, {1.10, 6, 0.85, 0.9}, {1.03, 10, 0.5, 0.8}}) {
    runner_.planted = one.factor;
    EXPECT_GE(groups(one.generations, "throughput").share(), one.by_throughput) << one.factor;
    EXPECT_GE(groups(one.generations, "cost").share(), one.by_cost) << one.factor;
  }
}

}  // namespace
}  // namespace joust::race
