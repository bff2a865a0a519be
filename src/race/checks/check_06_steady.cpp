// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"
#include "stats/drift.hpp"
#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

// The least change between halves of a trial that counts as a trend. The mean is then off by half of it.
constexpr double kUnsteady = 0.04;
// The fewest trials of a contestant that show a trend.
constexpr std::size_t kTrialsThatShowATrend = 3;

// The cost is the server's CPU time per message; within a trial it is known in turns only.
enum class Quantity { throughput, cost };
// The shape of a change: from the first half of a trial to the second, or along a straight line from its
// beginning to its end.
enum class TrendShape { halves, slope };

// A change that recurs in the trials of one contestant, or of all of them alike.
struct Trend {
  std::string contestant{};  // empty: all contestants
  Quantity quantity = Quantity::throughput;
  TrendShape shape = TrendShape::halves;
  double change = 0;           // beyond that of the other contestants: 0.1 is a rise by 10 %
  stats::Interval interval{};  // interval of the change
};

struct Steadiness {
  std::size_t trials = 0;           // trials of the contestant with the most that can be judged
  bool several = false;             // several contestants, so that each is compared with the others
  std::vector<Trend> found{};       // at most one for each contestant
  std::optional<Trend> greatest{};  // the greatest change between halves, significant or not
};

// The confidence with which all intervals of a case hold together.
constexpr double kAllTrends = 0.99;
constexpr std::size_t kFewestParts = 4;
// The fewest messages in a part. With fewer, the number of whole replies in a tenth of a window is a matter
// of luck.
constexpr std::uint64_t kFewestMessagesInPart = 20;

using Parts = std::map<std::size_t, double>;  // by place within the trial

Parts turns_of(const Trial& trial, Quantity quantity) {
  Parts parts;
  for (const Turn& turn : trial.turns) {
    const auto figure =
        quantity == Quantity::cost ? turn.server_cpu_us_per_message() : turn.throughput_per_s();
    if (figure) parts.emplace(turn.number, *figure);
  }
  return parts;
}

Parts slices_of(const Trial& trial) {
  const std::vector<std::uint64_t>& slices = trial.load->slices;
  Parts parts;
  if (std::ranges::any_of(slices, [](auto count) { return count < kFewestMessagesInPart; })) return parts;
  for (std::size_t i = 0; i < slices.size(); ++i) parts.emplace(i, static_cast<double>(slices[i]));
  return parts;
}

Parts parts_of(const Trial& trial, Quantity quantity) {
  if (!trial.turns.empty()) return turns_of(trial, quantity);
  return quantity == Quantity::throughput ? slices_of(trial) : Parts{};
}

// Returns the logarithm of a change within a series; nothing if the series is too short.
std::optional<double> change_in(const std::vector<double>& series, TrendShape shape) {
  if (series.size() < kFewestParts) return std::nullopt;
  if (shape == TrendShape::halves) return std::log1p(stats::change_between_halves(series));
  std::vector<double> logarithms;
  for (const double figure : series) logarithms.push_back(std::log(figure));
  return stats::least_squares(logarithms).slope * (static_cast<double>(series.size()) - 1);
}

// Logarithms of changes, one for each trial: of the contestant's figures, and of their ratio to the other
// contestants' figures.
struct TrendChanges {
  std::vector<double> own{}, beyond{};
};

class FiguresOfRounds {
 public:
  FiguresOfRounds(const CaseResult& one, Quantity quantity) {
    const std::vector<const Entry*> entries = contestants_of(one);
    for (std::size_t i = 0; i < entries.size(); ++i)
      for (const Trial* trial : usable_trials(*entries[i])) {
        auto& round = rounds_[trial->round];
        round.resize(entries.size());
        round[i] = parts_of(*trial, quantity);
      }
  }

  TrendChanges changes(std::size_t contestant, TrendShape shape) const {
    TrendChanges changes;
    for (const auto& [number, round] : rounds_) {
      std::vector<double> own, ratios;
      for (const auto& [place, figure] : round[contestant]) {
        own.push_back(figure);
        const auto others = median_of_others(round, contestant, place);
        if (others) ratios.push_back(figure / *others);
      }
      if (const auto change = change_in(own, shape)) changes.own.push_back(*change);
      if (const auto change = change_in(ratios, shape)) changes.beyond.push_back(*change);
    }
    return changes;
  }

 private:
  static std::optional<double> median_of_others(const std::vector<Parts>& round, std::size_t contestant,
                                                std::size_t place) {
    std::vector<double> figures;
    for (std::size_t i = 0; i < round.size(); ++i)
      if (const auto part = round[i].find(place); i != contestant && part != round[i].end())
        figures.push_back(part->second);
    if (figures.empty()) return std::nullopt;
    return stats::median(figures);
  }

  std::map<std::uint64_t, std::vector<Parts>> rounds_;  // by number of the round; a place for each contestant
};

stats::Location location_of(const std::vector<double>& changes, double confidence) {
  if (changes.size() < kTrialsThatShowATrend) return {.estimate = 0};
  return stats::centre_with_interval(changes, confidence);
}

bool is_trend(const stats::Location& location) {
  return location.interval.is_known() && !location.interval.contains(0) &&
         std::abs(location.estimate) > std::log1p(kUnsteady);
}

// Returns whether the contestant itself changes. If another contestant changes, the ratio to it changes in
// the other direction: that is no change of this contestant.
bool is_own_trend(double own, double beyond) {
  return own * beyond > 0 && std::abs(own) >= std::abs(beyond) / 2;
}

Trend trend_of(const std::string& contestant, Quantity quantity, TrendShape shape,
               const stats::Location& location) {
  return {.contestant = contestant,
          .quantity = quantity,
          .shape = shape,
          .change = std::expm1(location.estimate),
          .interval = {std::expm1(location.interval.low), std::expm1(location.interval.high)}};
}

class Search {
 public:
  explicit Search(const CaseResult& one) : entries_(contestants_of(one)) {
    result_.several = entries_.size() > 1;
    if (!one.plan.load.open_loop())  // in an open loop the throughput is given
      figures_.emplace_back(Quantity::throughput, FiguresOfRounds(one, Quantity::throughput));
    if (one.plan.load.turns) figures_.emplace_back(Quantity::cost, FiguresOfRounds(one, Quantity::cost));
    // Tests of each contestant, and of all of them together, in two shapes.
    const auto tests = static_cast<double>(2 * figures_.size() * (entries_.size() + 1));
    confidence_ = 1 - (1 - kAllTrends) / tests;
  }

  Steadiness run() {
    for (std::size_t i = 0; i < entries_.size(); ++i) look_at(i);
    if (result_.found.empty() && result_.several) look_at_all();
    return std::move(result_);
  }

 private:
  void look_at(std::size_t contestant) {
    bool found = false;
    for (const auto& [quantity, figures] : figures_)
      for (const TrendShape shape : {TrendShape::halves, TrendShape::slope}) {
        const TrendChanges changes = figures.changes(contestant, shape);
        result_.trials = std::max(result_.trials, changes.own.size());
        const stats::Location own = location_of(changes.own, confidence_);
        const stats::Location beyond = result_.several ? location_of(changes.beyond, confidence_) : own;
        const Trend trend = trend_of(entries_[contestant]->contestant.name, quantity, shape, beyond);
        note(trend);
        if (found || !is_trend(beyond) || !is_own_trend(own.estimate, beyond.estimate)) continue;
        found = true;
        result_.found.push_back(trend);
      }
  }

  void note(const Trend& trend) {
    if (trend.shape != TrendShape::halves || !trend.interval.is_known()) return;
    if (!result_.greatest || std::abs(trend.change) > std::abs(result_.greatest->change))
      result_.greatest = trend;
  }

  // Looks for a trend of all contestants: all change alike if each one does.
  void look_at_all() {
    for (const auto& [quantity, figures] : figures_)
      for (const TrendShape shape : {TrendShape::halves, TrendShape::slope})
        if (const auto least = least_of_all(figures, shape)) {
          result_.found.push_back(trend_of("", quantity, shape, *least));
          return;
        }
  }

  // Returns the least of the contestants' own changes; nothing unless all are trends of one direction.
  std::optional<stats::Location> least_of_all(const FiguresOfRounds& figures, TrendShape shape) const {
    std::optional<stats::Location> least;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const stats::Location own = location_of(figures.changes(i, shape).own, confidence_);
      if (!is_trend(own) || (least && own.estimate * least->estimate < 0)) return std::nullopt;
      if (!least || std::abs(own.estimate) < std::abs(least->estimate)) least = own;
    }
    return least;
  }

  const std::vector<const Entry*> entries_;
  std::vector<std::pair<Quantity, FiguresOfRounds>> figures_;
  double confidence_ = 0;
  Steadiness result_{};
};

// The parts of a trial are its turns in their order, or the tenths of its window. Every trial gives one
// change between the medians of its halves, and one along the line by least squares. The trials are the
// sample: a warm-up recurs in each of them, a change of the machine differs from one to the next. The
// estimate is that of Hodges and Lehmann, with Wilcoxon's interval (stats::centre). The machine changes for
// the other contestants of the round too, so each part is also divided by the median of their parts at the
// same place.
//
// A trend is found if the interval of the change beyond that of the others does not contain 0, and the
// estimate is above kUnsteady. All intervals of a case hold together with 99 %, so chance finds a trend in at
// most one race of a hundred. Of two contestants that drift apart, the one whose own figure changes more is
// named.
Steadiness steadiness_of(const CaseResult& one) {
  return Search(one).run();
}

const char* name_of(Quantity quantity) {
  return quantity == Quantity::throughput ? "throughput" : "server CPU time per message";
}

// Returns the warm-up of a contestant; of all contestants, that of the load.
Duration warmup_of(const std::string& contestant, const CaseResult& one) {
  const Entry* const entry = find_entry(one, contestant);
  return (entry == nullptr ? std::nullopt : entry->contestant.warmup).value_or(one.plan.load.warmup);
}

std::string remedy(const Trend& trend, const CaseResult& one) {
  const LoadPlan& load = one.plan.load;
  const bool speeds_up = (trend.change > 0) == (trend.quantity == Quantity::throughput);
  if (speeds_up)
    return fmt::format("a longer warm-up (-w, now {}) leaves that out{}",
                       format_duration(warmup_of(trend.contestant, one)),
                       trend.contestant.empty() ? "" : ", or a warmup of this contestant in a scenario");
  return fmt::format("the figure depends on the duration (-d, now {}), so look for what grows or fills up",
                     format_duration(load.duration));
}

void tell(const Trend& trend, const CaseResult& one, bool several, Findings& findings) {
  const bool all = trend.contestant.empty();
  const char* const trial = one.plan.load.turns ? "generation" : "trial";
  const std::string where = trend.shape == TrendShape::halves
                                ? fmt::format("from the first half of a {} to the second", trial)
                                : fmt::format("from the beginning of a {} to its end", trial);
  findings.warn("{}: {} {} by {}{} {}{}; {}", all ? "all contestants" : trend.contestant,
                name_of(trend.quantity), trend.change > 0 ? "rises" : "falls", all ? "at least " : "",
                percent(std::abs(trend.change), 1), where,
                several && !all ? ", compared with the others" : "", remedy(trend, one));
}

}  // namespace

CheckResult check_steady(const RaceResult&, const CaseResult& one) {
  Findings findings(6, "steady state");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const LoadPlan& load = one.plan.load;
  if (one.plan.files) {
    findings.say("not a question here: whole commands are timed");
    return findings.take();
  }
  if (load.messages && !load.turns) {
    findings.say("a load that ends after a number of messages has no part that should be steady");
    return findings.take();
  }
  if (load.interval.count() > 0) {
    findings.say("the schedule of the load sets the throughput of every part of a trial");
    return findings.take();
  }
  if (load.open_loop() && !load.turns) {
    findings.doubt(
        "not checked: throughput is given, and the cost of a message is known for whole trials only");
    return findings.take();
  }
  const Steadiness steadiness = steadiness_of(one);
  if (steadiness.trials < kTrialsThatShowATrend) {
    findings.doubt(
        "nothing to check: {} with enough messages in each part, and it takes {} to tell a trend from chance",
        counted(steadiness.trials, "trial"), kTrialsThatShowATrend);
    return findings.take();
  }
  for (const Trend& trend : steadiness.found) tell(trend, one, steadiness.several, findings);
  if (steadiness.found.empty() && steadiness.greatest)
    findings.say(
        "no change within {} beyond chance; the greatest from the first half to the second: {} of {}, "
        "{:+.1f} %",
        load.turns ? "generations" : "trials", name_of(steadiness.greatest->quantity),
        steadiness.greatest->contestant, 100 * steadiness.greatest->change);
  else if (steadiness.found.empty())
    findings.doubt("no contestant has a result to look at");
  return findings.take();
}

}  // namespace joust::race
