// SPDX-License-Identifier: MIT
#include "load/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"

namespace joust {
namespace {

constexpr double kFirstRate = 1000;
constexpr double kLowestShare = 1.0 / 16;  // of the first rate: where the search gives up
constexpr double kHighestRate = 1e9;
constexpr double kCloseEnough = 1.02;
constexpr int kMajority = 2;                                 // of three tries
constexpr double kMostUnsent = 0.01;                         // of the requests that were due
constexpr Duration kLongestStep = std::chrono::seconds(10);  // unless a longer one is asked for

struct Named {
  std::string_view name;
  std::optional<double> quantile;
};
constexpr std::array kFigures{
    Named{"p50", 0.5},       Named{"p75", 0.75},          Named{"p90", 0.9},
    Named{"p95", 0.95},      Named{"p99", 0.99},          Named{"p99.9", 0.999},
    Named{"p99.99", 0.9999}, Named{"mean", std::nullopt}, Named{"max", std::nullopt}};

// What speaks against the step, in words; empty: nothing.
std::string objection(const Criterion& criterion, const LoadResult& load) {
  if (load.connections_failed > 0 || load.messages.failed > 0)
    return fmt::format("{} failed", counted(load.connections_failed, "connection"));
  if (load.messages.verified == 0) return "no reply";
  const auto due = static_cast<double>(load.due());
  if (static_cast<double>(load.unsent()) > kMostUnsent * due)
    return fmt::format("{:.0f} % not sent in time", 100 * static_cast<double>(load.unsent()) / due);
  const auto value = criterion.of(load.latency);
  if (!value) return fmt::format("too few messages for {}", criterion.figure);
  if (*value >= criterion.limit) return fmt::format("{} {}", criterion.figure, format_duration(*value));
  return {};
}

// Whether the load's own lateness takes half of what was allowed.
bool is_late(const Criterion& criterion, const LoadResult& load) {
  const auto late = criterion.of(load.send_lateness);
  return late && 2 * *late > criterion.limit;
}

LoadPlan plan_at(double rate, const Criterion& criterion, LoadPlan plan) {
  plan.rate_per_s = rate;
  const auto needed = std::chrono::duration<double>(criterion.messages_needed() / rate);
  plan.duration = std::max(plan.duration, std::min(kLongestStep, std::chrono::ceil<Duration>(needed)));
  return plan;
}

}  // namespace

std::optional<Duration> Criterion::of(const Histogram& latency) const {
  if (latency.count() == 0) return std::nullopt;
  if (figure == "mean") return Duration(std::llround(latency.mean()));
  if (!quantile) return Duration(static_cast<Duration::rep>(latency.max()));
  const auto value = latency.percentile(*quantile);
  return value ? std::optional(Duration(static_cast<Duration::rep>(*value))) : std::nullopt;
}

double Criterion::messages_needed() const {
  constexpr double kBeyond = 20;  // samples beyond the percentile; ten make it known
  return quantile ? kBeyond / (1 - *quantile) : 100;
}

std::expected<Criterion, std::string> parse_criterion(std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    return std::unexpected(fmt::format("'{}': {} (write it like p99<1ms)", text, what));
  };
  const std::size_t sign = text.find('<');
  if (sign == std::string_view::npos) return wrong("there is no '<'");
  std::string_view name = text.substr(0, sign), limit = text.substr(sign + 1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  while (limit.starts_with(' ')) limit.remove_prefix(1);
  const auto figure = std::ranges::find(kFigures, name, &Named::name);
  if (figure == kFigures.end()) {
    std::vector<std::string> names;
    for (const Named& one : kFigures) names.emplace_back(one.name);
    return wrong(fmt::format("there is no '{}'; there are: {}", name, join(names)));
  }
  const auto time = parse_duration(limit);
  if (!time) return wrong(time.error());
  if (*time <= Duration{}) return wrong("a latency is above 0");
  return Criterion{.figure = std::string(name), .quantile = figure->quantile, .limit = *time};
}

std::optional<double> RateSearch::next() const {
  if (held_ && failed_ && *failed_ <= *held_ * kCloseEnough) return std::nullopt;
  if (rate_ < first_rate_ * kLowestShare || rate_ > kHighestRate) return std::nullopt;
  return rate_;
}

// Far below its limit a server holds a rate at once: while rates rise, one try is enough. After the first
// failure the last rate that held is one of two ends, so it is tried again.
void RateSearch::tried(bool held) {
  ++(held ? held_here_ : failed_here_);
  const bool rising = !failed_ && failed_here_ == 0;
  if (held_here_ >= (rising ? 1 : kMajority)) return conclude(true);
  if (failed_here_ >= kMajority) return conclude(false);
}

void RateSearch::conclude(bool held) {
  const bool is_first_failure = !held && !failed_;
  (held ? held_ : failed_) = rate_;
  held_here_ = failed_here_ = 0;
  if (is_first_failure && held_) {
    rate_ = *std::exchange(held_, std::nullopt);
    held_here_ = 1;
  } else if (held_ && failed_) {
    rate_ = std::sqrt(*held_ * *failed_);
  } else {
    rate_ *= held ? 2 : 0.25;
  }
}

SearchResult search_rate(const Criterion& criterion, const LoadPlan& plan,
                         const std::function<LoadResult(const LoadPlan&)>& run) {
  SearchResult result{.criterion = criterion, .steps = {}, .highest_held = {}, .lowest_failed = {}};
  RateSearch search(plan.open_loop() ? plan.rate_per_s : kFirstRate);
  while (const auto rate = search.next()) {
    SearchStep step{.plan = plan_at(*rate, criterion, plan), .load = {}, .why = {}};
    step.load = run(step.plan);
    step.why = objection(criterion, step.load);
    step.held = step.why.empty();
    if (!step.held && is_late(criterion, step.load)) step.why += "; the load itself was late";
    result.interrupted = step.load.interrupted;
    result.steps.push_back(std::move(step));
    if (result.interrupted || result.steps.back().load.connections_ok == 0) break;
    search.tried(result.steps.back().held);
  }
  result.highest_held = search.highest_held();
  result.lowest_failed = search.lowest_failed();
  for (const SearchStep& step : result.steps)
    if (!step.held && step.plan.rate_per_s == result.lowest_failed && is_late(criterion, step.load))
      result.limited_by_load = true;
  return result;
}

}  // namespace joust
