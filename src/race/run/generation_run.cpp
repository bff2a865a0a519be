// SPDX-License-Identifier: MIT
#include "race/run/generation_run.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "load/schedule.hpp"
#include "stats/intervals.hpp"
#include "stats/random.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

// The least length that a counted turn counts as. Stopping one contestant and waking another takes time too,
// so a generation has a limited number of short turns.
constexpr Duration kLeastOfCountedTurn = std::chrono::milliseconds(5);
constexpr std::uint64_t kMostMessages = 1'000'000'000;  // messages of a connection in a turn

// Returns the mean latency. In a closed loop all connections' slots are in use, so it follows from the
// throughput (Little's law).
Duration latency_of(const Turn& turn, const LoadPlan& load) {
  if (turn.messages == 0) return kLongestChosenTurn;
  const double slots = static_cast<double>(load.connections * load.depth);
  return std::chrono::round<Duration>(
      std::chrono::duration<double>(turn.turn_s * slots / static_cast<double>(turn.messages)));
}

// Returns the length of a turn that a contestant needs, from its warm-up of the given length. In an open loop
// few slots are in use, so the number of messages does not show the latency. The time until the last reply
// does: its requests were still to be answered when the warm-up's time was over. Of a server that does not
// keep up with the rate that is the whole backlog.
Duration wanted_turn(const Turn& warmup, Duration length, const LoadPlan& load) {
  if (!load.open_loop()) return turn_length(latency_of(warmup, load));
  const std::chrono::duration<double> filled(kMessagesInOpenTurn / load.rate_per_s);
  const auto waited = std::chrono::round<Duration>(std::chrono::duration<double>(warmup.turn_s)) - length;
  return std::max(std::clamp(std::chrono::round<Duration>(filled), kShortestOpenTurn, kLongestChosenTurn),
                  kWaitsInOpenTurn * waited);
}

// Returns the level of a trial's turns. Nothing where no turn has the figure.
std::optional<double> level_of(const Trial& trial, std::optional<double> (Turn::*figure)() const) {
  std::vector<double> logs;
  for (const Turn& turn : trial.turns)
    if (const auto value = (turn.*figure)(); value && *value > 0) logs.push_back(std::log(*value));
  return logs.empty() ? std::nullopt : std::optional(std::exp(stats::centre(logs, {}).estimate));
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
    choose_turn();
    Duration windows{};
    const auto is_enough = [&](std::uint64_t turns) {
      if (plan_.deadline && Clock::now() >= *plan_.deadline && turns > 0) return true;
      return plan_.turns ? turns >= *plan_.turns : turns >= kFewestTurns && windows >= plan_.window;
    };
    for (std::uint64_t number = 1; !is_enough(number - 1); ++number) {
      if (alive_.empty() || is_over() || plan_.too_long) break;
      windows += take_turns(number);
    }
    for (const std::size_t i : alive_) finish(i);
    set_figures(trials_);
    return std::move(trials_);
  }

 private:
  // Starts the contestants one after the other, so that a start takes no CPU time from a turn.
  void start() {
    for (std::size_t i = 0; i < turns_.size() && !plan_.too_long; ++i)
      if (!is_over() && generation_.start(i) && warm_up(i))
        alive_.push_back(i);
      else
        finish(i);
  }

  void finish(std::size_t i) {
    trials_[i] = generation_.finish(i);
    trials_[i].turns = std::move(turns_[i]);
    host_lost_ |= trials_[i].host_lost;
  }

  // Nobody works any more after an interruption, nor without a host.
  bool is_over() const { return host_lost_ || stop_.requested(); }

  // Ends a failed contestant at once, so that it takes nothing from the others' turns.
  void drop(std::size_t i) {
    std::erase(alive_, i);
    finish(i);
  }

  bool warm_up(std::size_t i) {
    const Entry& entry = orders_[i].entry;
    const Duration wanted_length = plan_.number == 1 || plan_.warms_up_again
                                       ? entry.contestant.warmup.value_or(plan_.warmup)
                                       : later_warmup(entry, orders_[i].load_case.load, false);
    const Duration length = std::max<Duration>(wanted_length, kShortestChosenTurn);
    if (plan_.counted) return warm_up_by_count(i, length);
    std::optional<Duration> wanted = turn_after(i, length);
    Duration latency = latency_;
    if (wanted > kLongestChosenTurn) {  // it may have been a stall
      const auto again = turn_after(i, length);
      wanted = again ? std::optional(std::min(*wanted, *again)) : std::nullopt;
      latency = std::min(latency, latency_);
    }
    if (!wanted) return false;
    longest_latency_ = std::max(longest_latency_, latency);
    if (*wanted > kLongestChosenTurn && plan_.number == 1 && !plan_.turn) plan_.too_long = wanted;
    longest_ = std::max(longest_, std::min(*wanted, kLongestChosenTurn));
    return !plan_.too_long;
  }

  // Returns the length of a turn that the contestant needs, after one of this length. Nothing if it failed.
  std::optional<Duration> turn_after(std::size_t i, Duration length) {
    const auto turn = generation_.take_turn(i, {.time = length}, false);
    if (!turn) return std::nullopt;
    const LoadPlan& load = orders_[i].load_case.load;
    if (!load.open_loop()) latency_ = latency_of(*turn, load);
    return wanted_turn(*turn, length, load);
  }

  // Warms up by numbers of messages. The number doubles from turn to turn, so that the last turn shows how
  // long a message takes when all is warm. The next contestant is not started where turns take too long:
  // files may need much memory.
  bool warm_up_by_count(std::size_t i, Duration length) {
    Duration message{};
    std::uint64_t messages = 1;
    for (Duration spent{}; spent < length; messages = std::min(2 * messages, kMostMessages)) {
      const auto took = try_count(i, messages);
      if (!took) return false;
      spent += *took;
      message = *took / static_cast<std::int64_t>(messages);
    }
    if (plan_.number == 1 && takes_too_long(message)) {  // later generations are like the first
      const auto again = try_count(i, 1);                // it may have been a stall
      if (!again) return false;
      message = std::min(message, *again);
      if (takes_too_long(message)) plan_.too_long = message;
    }
    shortest_message_ = std::min(shortest_message_, message);
    longest_message_ = std::max(longest_message_, message);
    return !plan_.too_long;
  }

  // Returns how long the turn took, at least a nanosecond for each message.
  std::optional<Duration> try_count(std::size_t i, std::uint64_t messages) {
    const auto turn = generation_.take_turn(i, {.messages = messages}, false);
    if (!turn) return std::nullopt;
    return std::max<Duration>(std::chrono::round<Duration>(std::chrono::duration<double>(turn->turn_s)),
                              Duration(static_cast<std::int64_t>(messages)));
  }

  bool takes_too_long(Duration message) const {
    const auto messages = static_cast<double>(std::max<std::uint64_t>(plan_.messages, 1));
    return std::chrono::duration<double>(message) * messages > kLongestChosenTurn;
  }

  // Chooses one size of turn for all contestants.
  void choose_turn() {
    if (alive_.empty()) return;
    const bool all = alive_.size() == orders_.size();  // the slowest may be missing otherwise
    if (plan_.counted) {
      size_.messages = plan_.messages > 0 ? plan_.messages : chosen_messages();
      if (all) plan_.messages = size_.messages;
    } else {
      size_.time = plan_.turn.value_or(std::max(longest_, kShortestChosenTurn));
      if (all) plan_.turn = size_.time;
      if (all && longest_latency_ > Duration{}) plan_.ramp = ramp_length(longest_latency_);
    }
  }

  // Returns a number of messages for which even the fastest contestant works for a turn's length, unless that
  // would keep the slowest for too long.
  std::uint64_t chosen_messages() const {
    const Duration wanted = plan_.turn.value_or(kShortestChosenTurn);
    const std::int64_t enough = (wanted + shortest_message_ - Duration(1)) / shortest_message_;
    const std::int64_t most = std::max<Duration>(kLongestChosenTurn, wanted) / longest_message_;
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(enough, 1, std::max<std::int64_t>(most, 1)));
  }

  // Gives each contestant its turn of this number. Returns the length of each turn's window. For counted
  // turns it is the median, which a stall of one of them does not move.
  Duration take_turns(std::uint64_t number) {
    std::seed_seq seed{plan_.seed & 0xffffffffU, plan_.seed >> 32, plan_.number, number};
    stats::Random random(seed);
    const TurnSize size = size_of_turns(random);
    std::vector<double> lengths_s;
    std::vector<std::size_t> order = alive_;
    stats::shuffle(order, random);
    std::uint64_t place = 0;
    for (const std::size_t i : order) {
      if (is_over()) break;
      const std::chrono::duration<double> start = Clock::now() - plan_.race_began;
      if (auto turn = generation_.take_turn(i, size, true)) {
        turn->number = number;
        turn->order = ++place;
        turn->start_s = start.count();
        lengths_s.push_back(turn->turn_s);
        turns_[i].push_back(*turn);
      } else {
        drop(i);
      }
    }
    if (!plan_.counted) return size.time - size.time / kRampShare;
    const std::chrono::duration<double> typical(lengths_s.empty() ? 0 : stats::median(lengths_s));
    return std::max<Duration>(std::chrono::round<Duration>(typical), kLeastOfCountedTurn);
  }

  // Returns a size that differs from round to round in an open loop. A connection of an open loop sends in a
  // fixed period. If turns lasted as long as the period, or a whole fraction of it, the connection would send
  // at the same place of every turn, perhaps always in the ramp, which is not counted.
  TurnSize size_of_turns(stats::Random& random) const {
    if (!orders_.front().load_case.load.open_loop()) return size_;
    const auto more = stats::draw_below(random, static_cast<std::uint64_t>(size_.time.count()) / 2);
    return {.time = size_.time + Duration(static_cast<std::int64_t>(more))};
  }

  void set_figures(std::vector<Trial>& trials) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      Trial& trial = trials[i];
      if (!trial.failure.empty()) continue;
      trial.turns_throughput_per_s = level_of(trial, &Turn::throughput_per_s);
      trial.turns_server_cpu_us_per_message = level_of(trial, &Turn::server_cpu_us_per_message);
      if (orders_[i].entry.in_process && trial.load)
        trial.turns_throughput_per_s = trial.load->throughput_per_s;
    }
  }

  Generation& generation_;
  const std::vector<TrialOrder>& orders_;
  GenerationPlan& plan_;
  const Stop& stop_;
  std::vector<std::size_t> alive_;
  std::vector<std::vector<Turn>> turns_;
  std::vector<Trial> trials_;
  TurnSize size_{};
  bool host_lost_ = false;
  Duration longest_{};                      // the longest turn that a contestant needs
  Duration latency_{}, longest_latency_{};  // of the last warm-up, and of all; 0 in an open loop
  Duration shortest_message_ = Duration::max(), longest_message_{};  // on all connections at once
};

}  // namespace

Duration later_warmup(const Entry& entry, const LoadPlan& load, bool is_given) {
  constexpr Duration kMoment = std::chrono::milliseconds(30);
  if (entry.contestant.warmup || is_given || !entry.contestant.command.empty() || load.open_loop())
    return entry.contestant.warmup.value_or(load.warmup);
  return std::min<Duration>(load.warmup, kMoment);
}

Duration turn_length(Duration latency) {
  return std::clamp<Duration>(latency * kLatenciesInTurn, kShortestChosenTurn, kLongestChosenTurn);
}

Duration ramp_length(Duration latency) {
  return std::max(kShortestRamp, 2 * latency);
}

std::vector<Trial> run_generation(Generation& generation, const std::vector<TrialOrder>& orders,
                                  GenerationPlan& plan, const Stop& stop) {
  return GenerationRun(generation, orders, plan, stop).run();
}

}  // namespace joust::race
