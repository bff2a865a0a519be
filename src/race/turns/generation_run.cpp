// SPDX-License-Identifier: MIT
#include "race/turns/generation_run.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "load/turns.hpp"
#include "stats/random.hpp"
#include "stats/side_by_side.hpp"

namespace joust::race {
namespace {

constexpr std::uint64_t kFewestTurns = 5;

// In a closed loop all connections' slots are in use, so the mean latency follows from the throughput
// (Little's law).
Duration latency_of(const Turn& turn, const LoadPlan& load) {
  if (turn.messages == 0) return kLongestChosenTurn;
  const double slots = static_cast<double>(load.connections * load.depth);
  return std::chrono::round<Duration>(
      std::chrono::duration<double>(turn.turn_s * slots / static_cast<double>(turn.messages)));
}

// By its warm-up. In an open loop few slots are in use, so that it does not tell the latency.
Duration wanted_turn(const Turn& warmup, const LoadPlan& load) {
  if (!load.open_loop()) return turn_length(latency_of(warmup, load));
  const std::chrono::duration<double> filled(kMessagesInOpenTurn / *load.rate_per_s);
  return std::clamp(std::chrono::round<Duration>(filled), kShortestOpenTurn, kLongestChosenTurn);
}

class GenerationRun {
 public:
  GenerationRun(Generation& generation, const std::vector<TrialOrder>& orders, GenerationPlan& plan,
                const Stop& stop)
      : generation_(generation),
        orders_(orders),
        plan_(plan),
        stop_(stop),
        turns_(orders.size()),
        trials_(orders.size()) {}

  std::vector<Trial> run() {
    start();
    warm_up();
    Duration windows{};
    for (std::uint64_t round = 1; round <= kFewestTurns || windows < plan_.window; ++round) {
      if (alive_.empty() || stop_.requested()) break;
      windows += take_turns(round);
    }
    for (const std::size_t i : alive_) finish(i);
    set_figures(trials_);
    return std::move(trials_);
  }

 private:
  // One after the other: a start takes the CPU from nobody's turn.
  void start() {
    for (std::size_t i = 0; i < turns_.size(); ++i)
      if (!stop_.requested() && generation_.start(i))
        alive_.push_back(i);
      else
        finish(i);
  }

  void finish(std::size_t i) {
    trials_[i] = generation_.finish(i);
    trials_[i].turns = std::move(turns_[i]);
  }

  // At once, so that it takes nothing from the others' turns.
  void drop(std::size_t i) {
    std::erase(alive_, i);
    finish(i);
  }

  void warm_up() {
    Duration longest{};
    const Duration length = std::max<Duration>(plan_.warmup, kShortestChosenTurn);
    for (const std::size_t i : std::vector(alive_)) {
      if (const auto turn = generation_.take_turn(i, length, false))
        longest = std::max(longest, wanted_turn(*turn, orders_[i].load_case.load));
      else
        drop(i);
    }
    turn_ = plan_.turn.value_or(std::max(longest, kShortestChosenTurn));
    if (alive_.size() == orders_.size()) plan_.turn = turn_;  // the slowest may be missing otherwise
  }

  // Returns the length of each turn's window.
  Duration take_turns(std::uint64_t round) {
    std::seed_seq seed{plan_.seed & 0xffffffffU, plan_.seed >> 32, plan_.number, round};
    stats::Random random(seed);
    const Duration length = length_of_round(random);
    std::vector<std::size_t> order = alive_;
    stats::shuffle(order, random);
    for (const std::size_t i : order) {
      if (stop_.requested()) break;
      if (auto turn = generation_.take_turn(i, length, true)) {
        turn->round = round;
        turns_[i].push_back(*turn);
      } else {
        drop(i);
      }
    }
    return length - length / kRampShare;
  }

  // A connection of an open loop sends in a fixed period. If turns lasted as long, or a whole fraction of
  // that, it would send at the same place of every turn, perhaps always in the ramp, which is not counted. So
  // these turns differ in length from round to round.
  Duration length_of_round(stats::Random& random) const {
    if (!orders_.front().load_case.load.open_loop()) return turn_;
    return turn_ + Duration(static_cast<std::int64_t>(
                       stats::draw_below(random, static_cast<std::uint64_t>(turn_.count()) / 2)));
  }

  // The rows are the rounds of turns. An engine without sockets does not share the noise of the others, and
  // stays out, as does a trial that has failed.
  stats::TwoWayTable table(const std::vector<Trial>& trials, std::optional<double> (Turn::*figure)() const) {
    stats::TwoWayTable rows;
    for (std::size_t i = 0; i < trials.size(); ++i)
      for (const Turn& turn : trials[i].turns) {
        if (orders_[i].entry.in_process || !trials[i].failure.empty()) continue;
        if (rows.size() < turn.round)
          rows.resize(turn.round, std::vector<std::optional<double>>(trials.size()));
        if (const auto value = (turn.*figure)()) rows[turn.round - 1][i] = std::log(*value);
      }
    return rows;
  }

  void set_figures(std::vector<Trial>& trials) {
    const std::vector<double> rates = stats::levels_side_by_side(table(trials, &Turn::throughput_per_s));
    const std::vector<double> costs =
        stats::levels_side_by_side(table(trials, &Turn::server_cpu_us_per_message));
    const auto figure = [](const std::vector<double>& logs, std::size_t i) -> std::optional<double> {
      if (i >= logs.size() || std::isnan(logs[i])) return std::nullopt;
      return std::exp(logs[i]);
    };
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].turns_throughput_per_s = figure(rates, i);
      trials[i].turns_server_cpu_us_per_message = figure(costs, i);
      if (orders_[i].entry.in_process && trials[i].load)
        trials[i].turns_throughput_per_s = trials[i].load->throughput_per_s;
    }
  }

  Generation& generation_;
  const std::vector<TrialOrder>& orders_;
  GenerationPlan& plan_;
  const Stop& stop_;
  std::vector<std::size_t> alive_;
  std::vector<std::vector<Turn>> turns_;
  std::vector<Trial> trials_;
  Duration turn_{};
};

}  // namespace

Duration turn_length(Duration latency) {
  return std::clamp<Duration>(latency * kLatenciesInTurn, kShortestChosenTurn, kLongestChosenTurn);
}

std::vector<Trial> run_generation(Generation& generation, const std::vector<TrialOrder>& orders,
                                  GenerationPlan& plan, const Stop& stop) {
  return GenerationRun(generation, orders, plan, stop).run();
}

}  // namespace joust::race
