// SPDX-License-Identifier: MIT
#include "history/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::history {
namespace {

using report::page::Case;
using report::page::Contestant;
using report::page::Document;
using report::page::Kind;

// The variance of a difference of logarithms, with its degrees of freedom.
struct Variance {
  double value = 0;
  std::size_t degrees = 0;  // 0: not known
};

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> of_values;
  for (const double value : values) of_values.push_back(std::log(value));
  return of_values;
}

Variance between_rounds(const std::vector<double>& base, const std::vector<double>& now) {
  constexpr std::size_t kLeast = 2;
  if (base.size() < kLeast || now.size() < kLeast) return {};
  const double of_base = stats::variance(base) / static_cast<double>(base.size());
  const double of_now = stats::variance(now) / static_cast<double>(now.size());
  const double both = of_base + of_now;
  const std::size_t least = std::min(base.size(), now.size()) - 1;
  if (both <= 0) return {.value = 0, .degrees = least};
  const double degrees = both * both /
                         (of_base * of_base / static_cast<double>(base.size() - 1) +
                          of_now * of_now / static_cast<double>(now.size() - 1));
  return {.value = both, .degrees = std::max(least, static_cast<std::size_t>(degrees))};
}

// Returns the variance of one race among successive ones. Its degrees of freedom are those of a chi-square
// distribution with the same variance: von Neumann, "Distribution of the ratio of the mean square successive
// difference to the variance", The Annals of Mathematical Statistics 12, 1941.
Variance between_races(const std::vector<double>& races) {
  if (races.size() < 2) return {};
  double squares = 0;
  for (std::size_t i = 1; i < races.size(); ++i) squares += std::pow(races[i] - races[i - 1], 2);
  const double steps = static_cast<double>(races.size() - 1);
  const double degrees = 2 * steps * steps / (3 * steps - 1);
  return {.value = squares / (2 * steps),
          .degrees = std::max<std::size_t>(1, static_cast<std::size_t>(degrees))};
}

// Widens the interval of a ratio to that of a variance, and raises its chance, among so many comparisons. No
// difference within `unknown` is told.
void apply(const Variance& variance, double unknown, double tests, stats::Ratio& ratio) {
  if (variance.degrees == 0) return;
  const double difference = std::log(ratio.estimate), error = std::sqrt(variance.value);
  const double half =
      unknown + error * stats::student_quantile((1 - stats::kTogether) / tests, variance.degrees);
  const double beyond = std::abs(difference) - unknown;
  double chance = 1;
  if (beyond > 0)
    chance =
        error > 0 ? std::min(1.0, tests * stats::student_two_sided(beyond / error, variance.degrees)) : 0;
  const bool is_first = !ratio.is_known();
  const double low = std::exp(difference - half), high = std::exp(difference + half);
  ratio.interval.low = is_first ? low : std::min(low, ratio.interval.low);
  ratio.interval.high = is_first ? high : std::max(high, ratio.interval.high);
  ratio.chance = is_first ? chance : std::max(chance, ratio.chance);
}

// Computes the ratio of a change from the logarithms of both races, among so many comparisons.
void find_ratio(Change& change, const std::vector<double>& base, const std::vector<double>& now,
                const std::vector<double>& earlier, std::size_t comparisons) {
  const Variance of_race = between_races(earlier), of_rounds = between_rounds(base, now);
  change.races = earlier.size();
  change.scatter = std::sqrt(of_race.value);
  change.ratio = {.estimate = std::exp(stats::mean(now) - stats::mean(base)),
                  .rounds = std::min(base.size(), now.size())};
  change.ratio.interval = {.low = 0};
  const double tests = static_cast<double>(comparisons);
  const bool knows_scatter = earlier.size() >= kRacesOfScatter;
  apply(of_rounds, knows_scatter ? 0 : std::log(kUnknownScatter), tests, change.ratio);
  if (knows_scatter) apply({.value = 2 * of_race.value, .degrees = of_race.degrees}, 0, tests, change.ratio);
}

// Returns why a contestant has no figure of this kind; empty if it has.
std::string why_missing(const char* where, const Contestant* contestant, const Figure& figure) {
  if (contestant == nullptr) return fmt::format("the {} result has no such contestant", where);
  if (!contestant->is_sound())
    return fmt::format("in the {} result it is not ranked ({})", where, contestant->reason);
  if (figure.values.empty()) return fmt::format("the {} result has no such figure", where);
  return {};
}

Change change_of(const Case& base, const Case& now, const Contestant& contestant, const Figure& figure,
                 const Earlier& earlier, std::size_t comparisons) {
  const Contestant* const before = base.find(contestant.name);
  Change change{.case_ = now.name,
                .contestant = contestant.name,
                .figure = figure.name,
                .is_cost = figure.is_cost,
                .smaller_is_better = figure.smaller_is_better};
  Figure old{};
  if (before != nullptr)
    for (Figure& of_base : figures_of(base, *before))
      if (of_base.name == figure.name) old = std::move(of_base);
  change.missing = why_missing("base", before, old);
  if (change.missing.empty()) change.missing = why_missing("new", &contestant, figure);
  if (!change.missing.empty()) return change;
  change.base = geometric_mean(old.values);
  change.now = geometric_mean(figure.values);
  const bool is_bound = contestant.may_be_faster(), was_bound = before->may_be_faster();
  if (!figure.is_cost)
    change.bounds = {.contestant = is_bound, .reference = was_bound};
  else  // beside a client that is the limit, a server that is dearer shows a part of it
    change.bounds.understated = (is_bound || was_bound) && !now.by_latency();
  find_ratio(change, logarithms(old.values), logarithms(figure.values),
             logarithms(earlier(series_of(now, contestant), figure.name)), comparisons);
  return change;
}

// Adds the contestants of a case of the base that the new result lacks.
void add_missing(const Case& base, const Case& now, std::vector<Change>& changes) {
  for (const Contestant& contestant : base.contestants)
    if (contestant.kind == Kind::contestant && now.find(contestant.name) == nullptr)
      for (const Figure& figure : figures_of(base, contestant))
        changes.push_back({.case_ = base.name,
                           .contestant = contestant.name,
                           .figure = figure.name,
                           .is_cost = figure.is_cost,
                           .smaller_is_better = figure.smaller_is_better,
                           .missing = "the new result has no such contestant"});
}

// Says which case of one result the other has not.
std::string missing_case(const Document& of, const Document& in, const std::string& in_name) {
  for (const Case& load_case : of.cases)
    if (in.find(load_case.name) == nullptr)
      return fmt::format("{} has no case '{}'", in_name, load_case.name);
  return {};
}

}  // namespace

std::vector<Change> compare(const Document& base, const Document& now, const Earlier& earlier,
                            const stats::Measure& measure) {
  std::size_t comparisons = 0;
  for (const Case& load_case : now.cases) comparisons += 2 * load_case.rows().size();
  std::vector<Change> changes;
  for (const Case& load_case : now.cases) {
    const Case* const before = base.find(load_case.name);
    if (before == nullptr) continue;
    for (const Contestant& contestant : load_case.contestants) {
      if (contestant.kind != Kind::contestant) continue;
      for (const Figure& figure : figures_of(load_case, contestant)) {
        changes.push_back(change_of(*before, load_case, contestant, figure, earlier, comparisons));
        Change& change = changes.back();
        if (!change.missing.empty() || change.is_bound()) continue;
        const stats::Decision decision = stats::decide(change.ratio, measure);
        if (!change.bounds.understated || decision == stats::Decision::differ) change.decision = decision;
      }
    }
    add_missing(*before, load_case, changes);
  }
  return changes;
}

std::string why_not_the_same(const Document& base, const Document& now, const std::string& base_name,
                             const std::string& name) {
  std::string why = missing_case(now, base, base_name);
  if (why.empty()) why = missing_case(base, now, name);
  if (!why.empty()) return why;
  for (const Case& load_case : now.cases) {
    const Case& other = *base.find(load_case.name);
    if (other.identity != load_case.identity || other.ranked_by != load_case.ranked_by)
      return fmt::format("case '{}' has another load: {} in {}, {} in {}", load_case.name, other.load_words,
                         base_name, load_case.load_words, name);
  }
  return {};
}

std::vector<std::string> different_facts(const Document& base, const Document& now) {
  std::vector<std::string> different;
  const bool same_host = fact(base, "host") == fact(now, "host");
  if (!same_host)
    different.push_back(fmt::format("host: '{}' and '{}'", fact(base, "host"), fact(now, "host")));
  const std::string fingerprint = fact(base, "fingerprint");
  if (!fingerprint.empty() && fingerprint == fact(now, "fingerprint")) return different;
  for (const auto& [name, value] : now.race.environment) {
    // Facts of the program may change: that is what is compared.
    const bool of_program =
        name == "joust_version" || name == "program_xxh3_128" || name == "fingerprint" || name == "host";
    if (const std::string other = fact(base, name); !of_program && other != value)
      different.push_back(fmt::format("{}: '{}' and '{}'", name, other, value));
  }
  if (different.empty()) different.emplace_back("fingerprint");
  return different;
}

}  // namespace joust::history
