// SPDX-License-Identifier: MIT
#include "history/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/student.hpp"
#include "stats/summary.hpp"

namespace joust::history {
namespace {

using report::page::Document;
using report::page::Heat;
using report::page::Kind;
using report::page::Runner;

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

// Computes the ratio of a change from the logarithms of both races, among so many comparisons.
void find_ratio(Change& change, const std::vector<double>& base, const std::vector<double>& now,
                const std::vector<double>& earlier, std::size_t comparisons) {
  const double difference = stats::mean(now) - stats::mean(base);
  Variance variance = between_rounds(base, now);
  change.races = earlier.size();
  if (earlier.size() > 1) change.scatter = std::sqrt(stats::variance(earlier));
  const bool knows_scatter = earlier.size() >= kRacesOfScatter;
  const double of_races = 2 * change.scatter * change.scatter;
  if (knows_scatter && (variance.degrees == 0 || of_races > variance.value))
    variance = {.value = of_races, .degrees = earlier.size() - 1};
  change.ratio = {.estimate = std::exp(difference), .rounds = std::min(base.size(), now.size())};
  change.ratio.interval = {.low = 0};
  if (variance.degrees == 0) return;
  const double error = std::sqrt(variance.value), tests = static_cast<double>(comparisons);
  const double unknown = knows_scatter ? 0 : std::log(kUnknownScatter);
  const double half =
      unknown + error * stats::student_quantile((1 - stats::kTogether) / tests, variance.degrees);
  change.ratio.interval = {.low = std::exp(difference - half), .high = std::exp(difference + half)};
  const double beyond = std::abs(difference) - unknown;
  if (beyond <= 0) return;
  change.ratio.chance =
      error > 0 ? std::min(1.0, tests * stats::student_two_sided(beyond / error, variance.degrees)) : 0;
}

// Returns why a contestant has no figure of this kind; empty if it has.
std::string why_missing(const char* where, const Runner* runner, const Figure& figure) {
  if (runner == nullptr) return fmt::format("the {} result has no such contestant", where);
  if (!runner->ranked && !runner->at_least)
    return fmt::format("in the {} result it is not ranked ({})", where, runner->reason);
  if (figure.values.empty()) return fmt::format("the {} result has no such figure", where);
  return {};
}

Change change_of(const Heat& base, const Heat& now, const Runner& runner, const Figure& figure,
                 const Earlier& earlier, std::size_t comparisons) {
  const Runner* const before = base.find(runner.name);
  Change change{.heat = now.name,
                .contestant = runner.name,
                .figure = figure.name,
                .is_cost = figure.is_cost,
                .smaller_is_better = figure.smaller_is_better};
  Figure old{};
  if (before != nullptr)
    for (Figure& of_base : figures_of(base, *before))
      if (of_base.name == figure.name) old = std::move(of_base);
  change.missing = why_missing("base", before, old);
  if (change.missing.empty()) change.missing = why_missing("new", &runner, figure);
  if (!change.missing.empty()) return change;
  change.base = geometric_mean(old.values);
  change.now = geometric_mean(figure.values);
  if (!figure.is_cost) change.bounds = {.contestant = runner.at_least, .reference = before->at_least};
  find_ratio(change, logarithms(old.values), logarithms(figure.values),
             logarithms(earlier(series_of(now, runner), figure.name)), comparisons);
  return change;
}

const Heat* find_heat(const Document& document, const std::string& name) {
  const auto found = std::ranges::find(document.heats, name, &Heat::name);
  return found == document.heats.end() ? nullptr : &*found;
}

// Says which case of one result the other has not, or has with another load.
std::string missing_case(const Document& of, const Document& in, const char* where) {
  for (const Heat& heat : of.heats) {
    const Heat* const other = find_heat(in, heat.name);
    if (other == nullptr) return fmt::format("the {} result has no case '{}'", where, heat.name);
    if (other->identity != heat.identity || other->ranked_by != heat.ranked_by)
      return fmt::format("case '{}' has another load in the {} result: {}; and {}", heat.name, where,
                         other->load, heat.load);
  }
  return {};
}

}  // namespace

std::vector<Change> compare(const Document& base, const Document& now, const Earlier& earlier,
                            const stats::Measure& measure) {
  std::size_t comparisons = 0;
  for (const Heat& heat : now.heats) comparisons += 2 * heat.contestants().size();
  std::vector<Change> changes;
  for (const Heat& heat : now.heats) {
    const Heat* const before = find_heat(base, heat.name);
    if (before == nullptr) continue;
    for (const Runner& runner : heat.runners) {
      if (runner.kind != Kind::contestant) continue;
      for (const Figure& figure : figures_of(heat, runner)) {
        changes.push_back(change_of(*before, heat, runner, figure, earlier, comparisons));
        Change& change = changes.back();
        const bool is_bound = change.bounds.contestant || change.bounds.reference;
        if (change.missing.empty() && !is_bound) change.decision = stats::decide(change.ratio, measure);
      }
    }
  }
  return changes;
}

std::string why_not_the_same(const Document& base, const Document& now) {
  std::string why = missing_case(now, base, "base");
  return why.empty() ? missing_case(base, now, "new") : why;
}

std::vector<std::string> different_facts(const Document& base, const Document& now) {
  std::vector<std::string> different;
  const bool same_host = fact(base, "host") == fact(now, "host");
  if (!same_host)
    different.push_back(fmt::format("host: '{}' and '{}'", fact(base, "host"), fact(now, "host")));
  if (fact(base, "fingerprint") == fact(now, "fingerprint")) return different;
  for (const report::page::Fact& one : now.environment) {
    // Facts of the program may change: that is what is compared.
    const bool of_program = one.name == "joust_version" || one.name == "program_xxh3_128" ||
                            one.name == "fingerprint" || one.name == "host";
    if (const std::string other = fact(base, one.name); !of_program && other != one.value)
      different.push_back(fmt::format("{}: '{}' and '{}'", one.name, other, one.value));
  }
  if (different.empty()) different.emplace_back("fingerprint");
  return different;
}

}  // namespace joust::history
