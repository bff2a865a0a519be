// SPDX-License-Identifier: MIT
#include "load/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "base/words.hpp"

namespace joust {
namespace {

constexpr double kFirstRate = 1000;
constexpr double kLowestRate = 1, kHighestRate = 1e9;  // limits of the rates that are tried
constexpr double kCloseEnough = 1.05;
constexpr double kOfCapacity = 0.3;  // the first rate, where a server waits for its client most of the time
constexpr Duration kCapacityWindow = std::chrono::seconds(1);
constexpr int kMostLate = 20;    // tries that say nothing, because the load itself was late
constexpr int kMajority = 2;     // tries, of three
constexpr int kMostFitted = 80;  // tries between the first rates of either kind
constexpr Duration kLongestStep = std::chrono::seconds(5);  // unless a longer one is asked for

struct Named {
  std::string_view name;
  std::optional<double> quantile;
};
constexpr std::array kFigures{
    Named{"p50", 0.5},       Named{"p75", 0.75},          Named{"p90", 0.9},
    Named{"p95", 0.95},      Named{"p99", 0.99},          Named{"p99.9", 0.999},
    Named{"p99.99", 0.9999}, Named{"mean", std::nullopt}, Named{"max", std::nullopt}};

void judge(const Criterion& criterion, SearchStep& step) {
  const LoadResult& load = step.load;
  const auto value = criterion.of(load.latency);
  step.held = Held::no;
  if (load.interrupted) {
    step.held = Held::unknown;
    step.why = "interrupted";
  } else if (load.connections_failed > 0) {
    step.why = fmt::format("{} failed", counted(load.connections_failed, "connection"));
  } else if (load.messages.failed > 0) {
    step.why = fmt::format("{} failed", counted(load.messages.failed, "message"));
  } else if (load.messages.lost > 0) {
    step.why = fmt::format("{} lost", counted(load.messages.lost, "message"));
  } else if (!load.kept_rate()) {
    step.why = fmt::format("{:.1f} % of the rate not kept", 100 * (1 - load.achieved().value_or(0)));
  } else if (load.messages.verified == 0) {
    step.why = "no reply";
  } else if (!value || static_cast<double>(load.messages.verified) < criterion.messages_needed() / 2) {
    step.held = Held::unknown;
    step.why = fmt::format("too few messages for {}", criterion.figure);
  } else if (*value >= criterion.limit) {
    step.why = fmt::format("{} {}", criterion.figure, format_duration(*value));
  } else {
    step.held = Held::yes;
  }
}

// Returns whether the server was lost. A server that is too slow still accepts connections.
bool is_lost(const LoadResult& load) {
  return load.connections_ok == 0 && load.failures(Stage::connect) > 0 && !load.complaints.empty();
}

// Returns whether the load's own lateness takes half of the allowed latency.
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

std::optional<Duration> Criterion::of(const Distribution& latency) const {
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
  if (limit_ && (limit_->high <= limit_->low * kCloseEnough || fitted_ > kMostFitted)) return std::nullopt;
  if (too_low_ || rate_ < kLowestRate || rate_ > kHighestRate) return std::nullopt;
  return rate_;
}

// Chooses the next rate. Far below its limit a server holds a rate at once: while rates rise, one try is
// enough.
void RateSearch::tried(Held held) {
  if (held == Held::unknown) {  // a higher rate has more messages
    too_low_ = failed_.has_value() || failed_here_ > 0;
    rate_ *= 2;
    return;
  }
  tries_.push_back({.rate_per_s = rate_, .held = held == Held::yes});
  if (held_ && failed_) return fit();
  ++(held == Held::yes ? held_here_ : failed_here_);
  const bool rising = !failed_ && failed_here_ == 0;
  if (held_here_ >= (rising ? 1 : kMajority)) return conclude(true);
  if (failed_here_ >= kMajority) return conclude(false);
}

void RateSearch::conclude(bool held) {
  (held ? held_ : failed_) = rate_;
  held_here_ = failed_here_ = 0;
  if (held_ && failed_) return fit();
  rate_ *= held ? 2 : 0.25;
}

// Finds the limit of all tries, and where the next one tells most: it holds, or fails, more often than not,
// and neither is certain. The limit may be beyond both rates, which disturbances or luck may have decided.
void RateSearch::fit() {
  constexpr double kBeyond = 8, kOften = 0.7;
  const LimitFit fit(tries_, *held_ / kBeyond, *failed_ * kBeyond);
  limit_ = fit.limit();
  const double known = std::ranges::min_element(tries_, {}, &RateTry::rate_per_s)->rate_per_s;
  rate_ = std::clamp(fit.rate_that_holds(fitted_++ % 2 == 0 ? 1 - kOften : kOften), known, kHighestRate);
}

std::optional<double> RateSearch::highest_held() const {
  std::optional<double> highest = limit_ ? std::nullopt : held_;
  for (const RateTry& one : tries_)
    if (limit_ && one.held && one.rate_per_s <= limit_->rate_per_s)
      highest = std::max(highest.value_or(0), one.rate_per_s);
  return highest;
}

std::optional<double> RateSearch::lowest_failed() const {
  std::optional<double> lowest = limit_ ? std::nullopt : failed_;
  for (const RateTry& one : tries_)
    if (limit_ && !one.held && one.rate_per_s >= limit_->rate_per_s)
      lowest = std::min(lowest.value_or(kHighestRate), one.rate_per_s);
  return lowest;
}

namespace {

// Returns the first rate to be tried; nothing if the server was lost, or the user interrupted.
std::optional<double> first_rate(const LoadPlan& plan, double least, SearchResult& result,
                                 const std::function<LoadResult(const LoadPlan&)>& run) {
  if (plan.open_loop()) return plan.rate_per_s;
  LoadPlan closed = plan;
  closed.duration = std::max(plan.duration, kCapacityWindow);
  const LoadResult load = run(closed);
  result.interrupted = load.interrupted;
  if (is_lost(load)) result.lost = load.complaints.front();
  if (result.interrupted || !result.lost.empty()) return std::nullopt;
  result.capacity_per_s =
      static_cast<double>(load.messages.verified) / std::chrono::duration<double>(closed.duration).count();
  return std::max(std::max(1.0, least), kOfCapacity * *result.capacity_per_s);
}

}  // namespace

SearchResult search_rate(const Criterion& criterion, const LoadPlan& plan,
                         const std::function<LoadResult(const LoadPlan&)>& run, Duration time) {
  SearchResult result{.criterion = criterion,
                      .steps = {},
                      .limit = {},
                      .highest_held = {},
                      .lowest_failed = {},
                      .capacity_per_s = {}};
  const Time end = Clock::now() + time;
  constexpr double kKnown = 0.6;  // of the messages that are wanted: so many make a figure known
  const double enough =
      kKnown * criterion.messages_needed() / std::chrono::duration<double>(kLongestStep).count();
  const auto first = first_rate(plan, enough, result, run);
  if (!first) return result;
  RateSearch search(*first);
  int late = 0;
  while (const auto rate = search.next()) {
    if (result.is_cut = Clock::now() >= end; result.is_cut) break;
    SearchStep step{.plan = plan_at(*rate, criterion, plan), .load = {}, .why = {}};
    step.load = run(step.plan);
    judge(criterion, step);
    const bool says_nothing = step.held == Held::no && is_late(criterion, step.load);
    if (says_nothing) step.why += "; the load itself was late", step.held = Held::unknown;
    result.interrupted = step.load.interrupted;
    result.steps.push_back(std::move(step));
    const SearchStep& last = result.steps.back();
    if (is_lost(last.load)) result.lost = last.load.complaints.front();
    if (result.interrupted || !result.lost.empty()) break;
    if (!says_nothing) {
      search.tried(last.held);
    } else if (++late == kMostLate) {
      result.limited_by_load = true;
      break;
    }
  }
  result.limit = search.limit();
  result.highest_held = search.highest_held();
  result.lowest_failed = search.lowest_failed();
  return result;
}

}  // namespace joust
