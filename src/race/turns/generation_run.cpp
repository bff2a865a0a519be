// SPDX-License-Identifier: MIT
#include "race/turns/generation_run.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "stats/random.hpp"

namespace joust::race {
namespace {

// In a closed loop all connections' slots are in use, so the mean latency follows from the throughput
// (Little's law).
Duration latency_of(const Turn& turn, const LoadPlan& load) {
  if (turn.messages == 0) return kLongestTurn;
  const double slots = static_cast<double>(load.connections * load.depth);
  return std::chrono::round<Duration>(
      std::chrono::duration<double>(turn.turn_s * slots / static_cast<double>(turn.messages)));
}

class GenerationRun {
 public:
  GenerationRun(Generation& generation, std::size_t contestants, const Case& one, GenerationPlan& plan,
                const Stop& stop)
      : generation_(generation), one_(one), plan_(plan), stop_(stop), turns_(contestants) {}

  std::vector<Trial> run() {
    start();
    warm_up();
    for (std::uint64_t round = 1; !alive_.empty() && !stop_.requested() && more(); ++round) take_turns(round);
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      trials.push_back(generation_.finish(i));
      trials.back().turns = std::move(turns_[i]);
    }
    return trials;
  }

 private:
  // One after the other: a start takes the CPU from nobody's turn.
  void start() {
    for (std::size_t i = 0; i < turns_.size() && !stop_.requested(); ++i)
      if (generation_.start(i)) alive_.push_back(i);
  }

  void warm_up() {
    Duration slowest{};
    const Duration length = std::max<Duration>(plan_.warmup, kShortestTurn);
    std::erase_if(alive_, [&](std::size_t i) {
      const auto turn = generation_.take_turn(i, length, false);
      if (turn) slowest = std::max(slowest, latency_of(*turn, one_.load));
      return !turn;
    });
    if (!plan_.turn) plan_.turn = turn_length(slowest);
  }

  void take_turns(std::uint64_t round) {
    std::seed_seq seed{plan_.seed & 0xffffffffU, plan_.seed >> 32, plan_.number, round};
    stats::Random random(seed);
    std::vector<std::size_t> order = alive_;
    stats::shuffle(order, random);
    for (const std::size_t i : order) {
      if (stop_.requested()) return;
      if (auto turn = generation_.take_turn(i, *plan_.turn, true)) {
        turn->round = round;
        turns_[i].push_back(*turn);
      } else {
        std::erase(alive_, i);
      }
    }
  }

  // All who are alive have taken the same number of turns.
  bool more() const {
    double window_s = 0;
    for (const Turn& turn : turns_[alive_.front()]) window_s += turn.window_s;
    return window_s < std::chrono::duration<double>(plan_.window).count();
  }

  Generation& generation_;
  const Case& one_;
  GenerationPlan& plan_;
  const Stop& stop_;
  std::vector<std::size_t> alive_;
  std::vector<std::vector<Turn>> turns_;
};

}  // namespace

Duration turn_length(Duration latency) {
  return std::clamp<Duration>(latency * kLatenciesInTurn, kShortestTurn, kLongestTurn);
}

std::vector<Trial> run_generation(Generation& generation, std::size_t contestants, const Case& one,
                                  GenerationPlan& plan, const Stop& stop) {
  return GenerationRun(generation, contestants, one, plan, stop).run();
}

}  // namespace joust::race
