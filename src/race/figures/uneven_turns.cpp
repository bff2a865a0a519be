// SPDX-License-Identifier: MIT
#include "race/figures/uneven_turns.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "race/model/result.hpp"
#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

// The confidence with which no interval of a case misses the truth on the side that is told.
constexpr double kAllFigures = 0.99;
constexpr std::size_t kMostTurnsTold = 3;

const TurnFigure kThroughput{.words = "throughput",
                             .worse = -1,
                             .amount = [](const Turn& turn) { return static_cast<double>(turn.verified); },
                             .per = [](const Turn& turn) { return turn.window_s; },
                             .quiet = &Trial::turns_throughput_per_s,
                             .all = &Trial::all_turns_throughput_per_s};
const TurnFigure kCost{.words = "server CPU time per message",
                       .worse = 1,
                       .amount = [](const Turn& turn) { return turn.server_cpu_s * 1e6; },
                       .per = [](const Turn& turn) { return static_cast<double>(turn.messages); },
                       .quiet = &Trial::turns_server_cpu_us_per_message,
                       .all = &Trial::all_turns_server_cpu_us_per_message};

// Returns the logarithm; nothing for a figure that is not positive.
std::optional<double> log_of(double figure) {
  return figure > 0 && std::isfinite(figure) ? std::optional(std::log(figure)) : std::nullopt;
}

std::optional<double> log_of_turn(const Turn& turn, const TurnFigure& figure) {
  return log_of(figure.amount(turn) / figure.per(turn));
}

double of_all_turns(const Trial& trial, const TurnFigure& figure) {
  double amount = 0, per = 0;
  for (const Turn& turn : trial.turns) {
    amount += figure.amount(turn);
    per += figure.per(turn);
  }
  return amount / per;
}

std::optional<double> log_of_all_turns(const Trial& trial, const TurnFigure& figure) {
  return log_of(of_all_turns(trial, figure));
}

// Returns the logarithm of the median turn, which stalls in less than half of the turns leave quiet.
std::optional<double> log_of_quiet_turn(const Trial& trial, const TurnFigure& figure) {
  std::vector<double> turns;
  for (const Turn& turn : trial.turns)
    if (const auto here = log_of_turn(turn, figure)) turns.push_back(*here);
  return turns.empty() ? std::nullopt : std::optional(stats::median(turns));
}

std::optional<double> difference(const std::optional<double>& one, const std::optional<double>& other) {
  return one && other ? std::optional(*one - *other) : std::nullopt;
}

// The logarithms of a figure in one generation: of all turns, and of the median turn.
struct Level {
  double all = 0, quiet = 0;
};

double mean_of(const std::vector<Level>& levels, double Level::*member) {
  double sum = 0;
  for (const Level& level : levels) sum += level.*member;
  return sum / static_cast<double>(levels.size());
}

// One figure of all contestants of a case. A contestant with two entries has the mean of both.
class Changes {
 public:
  Changes(const CaseResult& one, const TurnFigure& figure) : figure_(&figure) {
    std::map<std::uint64_t, std::map<std::string, std::vector<Level>>> seen;
    for (const Entry* entry : entries_of_contestants(one)) {
      const std::string& name = answerable(*entry);
      if (std::ranges::count(names_, name) == 0) names_.push_back(name);
      for (const Trial* trial : usable_trials(*entry)) {
        const auto all = log_of_all_turns(*trial, figure), quiet = log_of_quiet_turn(*trial, figure);
        if (all && quiet) seen[trial->round][name].push_back({*all, *quiet});
        trials_[name].push_back(trial);
      }
    }
    for (const auto& [generation, by_name] : seen)
      for (const auto& [name, levels] : by_name)
        levels_[generation][name] = {.all = mean_of(levels, &Level::all),
                                     .quiet = mean_of(levels, &Level::quiet)};
  }

  const TurnFigure& figure() const { return *figure_; }
  const std::vector<std::string>& names() const { return names_; }
  bool known() const { return !levels_.empty(); }

  // Returns a change of each generation that this contestant shares with another one, from its quiet turn to
  // all turns: its own, and beyond the median of the others'. Where most turns of a generation stall, its
  // median turn is none of the quiet ones: it is not taken for much worse than in the other generations.
  std::pair<std::vector<double>, std::vector<double>> own_and_beyond(const std::string& name) const {
    constexpr double kMuchWorse = 0.05;
    std::vector<double> distances;  // of the quiet turn from those of the others
    for (const auto& [generation, by_name] : levels_)
      if (const auto others = of_others(by_name, name, [](const Level& level) { return level.quiet; });
          others && by_name.contains(name))
        distances.push_back(by_name.at(name).quiet - *others);
    std::pair<std::vector<double>, std::vector<double>> changes;
    if (distances.empty()) return changes;
    const double worst = stats::median(distances) + figure_->worse * kMuchWorse;
    for (const auto& [generation, by_name] : levels_) {
      const auto others_quiet = of_others(by_name, name, [](const Level& level) { return level.quiet; });
      const auto others =
          of_others(by_name, name, [](const Level& level) { return level.all - level.quiet; });
      if (!others || !others_quiet || !by_name.contains(name)) continue;
      const Level& own = by_name.at(name);
      const double limit = worst + *others_quiet;
      const double quiet = figure_->worse > 0 ? std::min(own.quiet, limit) : std::max(own.quiet, limit);
      changes.first.push_back(own.all - quiet);
      changes.second.push_back(changes.first.back() - *others);
    }
    return changes;
  }

  // Returns the worst turns, beyond the others' turns of the same round of turns.
  std::vector<UnevenTurn> worst(const std::string& name) const {
    std::vector<UnevenTurn> turns;
    const auto own = trials_.find(name);
    if (own == trials_.end()) return turns;
    for (const Trial* trial : own->second)
      for (const Turn& turn : trial->turns)
        if (const auto change = of_turn(*trial, turn))
          turns.push_back({trial->round, turn.number, *change - others_in(*trial, turn.number, name)});
    std::ranges::sort(turns, {}, [&](const UnevenTurn& turn) { return -figure_->worse * turn.change; });
    turns.resize(std::min(turns.size(), kMostTurnsTold));
    for (UnevenTurn& turn : turns) turn.change = std::expm1(turn.change);
    return turns;
  }

 private:
  using Levels = std::map<std::string, Level>;

  // Returns the median of a figure of the other contestants.
  static std::optional<double> of_others(const Levels& levels, const std::string& name,
                                         double (*figure)(const Level&)) {
    std::vector<double> others;
    for (const auto& [other, level] : levels)
      if (other != name) others.push_back(figure(level));
    return others.empty() ? std::nullopt : std::optional(stats::median(others));
  }

  std::optional<double> of_turn(const Trial& trial, const Turn& turn) const {
    return difference(log_of_turn(turn, *figure_), log_of_quiet_turn(trial, *figure_));
  }

  double others_in(const Trial& trial, std::uint64_t number, const std::string& name) const {
    std::vector<double> others;
    for (const auto& [other, trials] : trials_) {
      if (other == name) continue;
      for (const Trial* each : trials) {
        if (each->round != trial.round) continue;
        for (const Turn& turn : each->turns)
          if (turn.number == number)
            if (const auto change = of_turn(*each, turn)) others.push_back(*change);
      }
    }
    return others.empty() ? 0 : stats::median(others);
  }

  const TurnFigure* figure_;
  std::vector<std::string> names_;
  std::map<std::uint64_t, Levels> levels_;  // by generation
  std::map<std::string, std::vector<const Trial*>> trials_;
};

// Returns the figures of turns that a case is compared by. In an open loop the throughput is given.
std::vector<Changes> figures_of(const CaseResult& one) {
  std::vector<Changes> figures;
  if (!one.plan.load.turns) return figures;
  if (!one.plan.load.open_loop()) figures.emplace_back(one, kThroughput);
  figures.emplace_back(one, kCost);
  std::erase_if(figures, [](const Changes& changes) { return !changes.known(); });
  return figures;
}

// Returns whether the contestant itself is uneven. If another one is, the change beyond it has the other
// direction.
bool is_its_own(double own, double beyond) {
  return own * beyond > 0 && std::abs(own) >= std::abs(beyond) / 2;
}

void look_at(const Changes& changes, const std::string& name, double confidence, EvenTurns& result) {
  const auto [own, beyond] = changes.own_and_beyond(name);
  result.generations = std::max(result.generations, beyond.size());
  if (beyond.size() < kGenerationsThatShowStalls) return;
  const stats::Location location = stats::centre_with_interval(beyond, confidence);
  const double change = location.estimate;
  Unevenness here{.contestant = name,
                  .figure = &changes.figure(),
                  .change = std::expm1(change),
                  .interval = {std::expm1(location.interval.low), std::expm1(location.interval.high)}};
  result.chance = std::max(result.chance, std::expm1(location.interval.width() / 2));
  const bool worse = change * changes.figure().worse > 0;
  const bool told = worse && location.interval.is_known() && !location.interval.contains(0) &&
                    std::abs(here.change) > kUneven &&
                    is_its_own(stats::centre_with_interval(own, confidence).estimate, change);
  if (told) {
    here.worst = changes.worst(name);
    result.found.push_back(std::move(here));
  } else if (!result.greatest || std::abs(here.change) > std::abs(result.greatest->change)) {
    result.greatest = std::move(here);
  }
}

EvenTurns look(const std::vector<Changes>& figures) {
  EvenTurns result;
  if (figures.empty()) return result;
  const std::vector<std::string>& names = figures.front().names();
  result.several = names.size() > 1;
  // A change counts in one direction only, so chance has half of what is beyond the interval.
  const double confidence = 1 - 2 * (1 - kAllFigures) / static_cast<double>(figures.size() * names.size());
  for (const Changes& changes : figures)
    for (const std::string& name : names) look_at(changes, name, confidence, result);
  return result;
}

// Returns the median, over the other contestants, of the logarithm of the change from all turns of a
// generation to the level that they are compared by.
double others_to_level(const CaseResult& one, const Changes& changes, const std::string& name,
                       std::uint64_t generation) {
  std::vector<double> others;
  for (const Entry* entry : entries_of_contestants(one))
    for (const Trial* trial : usable_trials(*entry)) {
      if (trial->round != generation || answerable(*entry) == name) continue;
      const auto level = log_of((trial->*changes.figure().quiet).value_or(0));
      if (const auto to = difference(level, log_of_all_turns(*trial, changes.figure())))
        others.push_back(*to);
    }
  return others.empty() ? 0 : stats::median(others);
}

void count_all_turns(const Changes& changes, const std::string& name, CaseResult& one) {
  const TurnFigure& figure = changes.figure();
  for (Entry& entry : one.entries) {
    if (entry.kind == EntryKind::ceiling || answerable(entry) != name) continue;
    for (Trial& trial : entry.trials)
      if (const auto all = log_of_all_turns(trial, figure); all && trial.*figure.quiet)
        trial.*figure.all = std::exp(*all + others_to_level(one, changes, name, trial.round));
  }
}

}  // namespace

std::optional<double> throughput_of_all_turns(const Trial& trial) {
  if (trial.turns.empty()) return std::nullopt;
  return of_all_turns(trial, kThroughput);
}

std::optional<double> cost_of_all_turns(const Trial& trial) {
  if (trial.turns.empty() || !trial.server.cpu_unknown.empty()) return std::nullopt;
  return of_all_turns(trial, kCost);
}

EvenTurns even_turns_of(const CaseResult& one) {
  return look(figures_of(one));
}

std::vector<std::string> uneven_contestants(const CaseResult& one) {
  std::vector<std::string> names;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && std::ranges::any_of(entry.trials, &Trial::counts_all_turns))
      names.push_back(entry.contestant.name);
  return names;
}

void count_uneven_turns(CaseResult& one) {
  for (Entry& entry : one.entries)
    for (Trial& trial : entry.trials)
      trial.all_turns_throughput_per_s = trial.all_turns_server_cpu_us_per_message = std::nullopt;
  const std::vector<Changes> figures = figures_of(one);
  for (const Unevenness& uneven : look(figures).found)
    for (const Changes& changes : figures) count_all_turns(changes, uneven.contestant, one);
}

}  // namespace joust::race
