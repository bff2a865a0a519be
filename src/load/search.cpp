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

constexpr double kCloseEnough = 1.05;
// Parts of the capacity in a closed loop, which no rate exceeds: the first rate, the least one (one part of
// so many), and the greatest one, since that loop has its noise too.
constexpr double kOfCapacity = 0.6, kRange = 100, kAboveCapacity = 1.5;
constexpr Duration kCapacityWindow = std::chrono::seconds(1);
constexpr std::size_t kHopeless = 25;  // tries of which none has held
constexpr int kMostUnknown = 20;       // tries that say nothing, because the load itself was late
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
  constexpr double kBeyond = 12;  // samples beyond the percentile; ten make it known
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

bool RateSearch::any(bool held) const {
  return std::ranges::any_of(tries_, [held](const RateTry& one) { return one.held == held; });
}

std::optional<RateLimit> RateSearch::limit() const {
  return any(true) && any(false) ? limit_ : std::nullopt;
}

std::optional<double> RateSearch::next() const {
  if (limit_ && limit_->high <= limit_->low * kCloseEnough) return std::nullopt;
  if (tries_.size() >= kHopeless && !any(true)) return std::nullopt;
  return rate_;
}

// A try tells most where it holds, or fails, more often than not, and neither is certain. Rates are lowered
// step by step: tries at low ones last long, and a disturbed machine fails most of them.
void RateSearch::tried(Held held, Duration length) {
  constexpr double kOften = 0.7;
  if (held == Held::unknown) {  // a higher rate has more messages
    rate_ = std::max(2 * rate_, least_);
    return;
  }
  tries_.push_back({.rate_per_s = rate_,
                    .held = held == Held::yes,
                    .length_s = std::chrono::duration<double>(length).count()});
  const LimitFit fit(tries_, least_, most_);
  limit_ = fit.limit();
  const double lowest = std::ranges::min_element(tries_, {}, &RateTry::rate_per_s)->rate_per_s;
  rate_ = std::clamp(fit.rate_that_holds(tries_.size() % 2 == 0 ? 1 - kOften : kOften),
                     std::max(least_, lowest / 2), most_);
}

std::optional<double> RateSearch::highest_held() const {
  const double most = limit() ? limit_->rate_per_s : most_;
  std::optional<double> highest;
  for (const RateTry& one : tries_)
    if (one.held && one.rate_per_s <= most) highest = std::max(highest.value_or(0), one.rate_per_s);
  return highest;
}

std::optional<double> RateSearch::lowest_failed() const {
  const double least = limit() ? limit_->rate_per_s : 0;
  std::optional<double> lowest;
  for (const RateTry& one : tries_)
    if (!one.held && one.rate_per_s >= least) lowest = std::min(lowest.value_or(most_), one.rate_per_s);
  return lowest;
}

namespace {

// Returns how many messages a closed loop verifies in a second; nothing if the server was lost, or the user
// interrupted.
std::optional<double> capacity(LoadPlan plan, SearchResult& result,
                               const std::function<LoadResult(const LoadPlan&)>& run) {
  plan.rate_per_s = 0;
  plan.duration = std::max(plan.duration, kCapacityWindow);
  const LoadResult load = run(plan);
  result.interrupted = load.interrupted;
  if (is_lost(load))
    result.lost = load.complaints.front();
  else if (load.messages.verified == 0)
    result.lost = load.complaints.empty() ? "no reply" : load.complaints.front();
  if (result.interrupted || !result.lost.empty()) return std::nullopt;
  return static_cast<double>(load.messages.verified) / std::chrono::duration<double>(plan.duration).count();
}

}  // namespace

SearchResult search_rate(const Criterion& criterion, LoadPlan plan,
                         const std::function<LoadResult(const LoadPlan&)>& run, Duration time) {
  SearchResult result{.criterion = criterion,
                      .steps = {},
                      .limit = {},
                      .highest_held = {},
                      .lowest_failed = {},
                      .capacity_per_s = {}};
  const Time end = Clock::now() + time;
  result.capacity_per_s = capacity(plan, result, run);
  if (!result.capacity_per_s) return result;
  const double enough = criterion.messages_needed() /
                        std::chrono::duration<double>(std::max(kLongestStep, plan.duration)).count();
  const double least = std::max({1.0, enough, *result.capacity_per_s / kRange});
  const double most = std::max(kAboveCapacity * *result.capacity_per_s, 2 * least);
  RateSearch search(
      plan.open_loop() ? plan.rate_per_s : std::max(least, kOfCapacity * *result.capacity_per_s), least,
      std::max(most, plan.rate_per_s));
  int unknown = 0;
  while (const auto rate = search.next()) {
    if (result.is_cut = Clock::now() >= end; result.is_cut) break;
    SearchStep step{.plan = plan_at(*rate, criterion, plan), .load = {}, .why = {}};
    step.load = run(step.plan);
    judge(criterion, step);
    const bool late = step.held == Held::no && is_late(criterion, step.load);
    if (late) step.why += "; the load itself was late";
    result.interrupted = step.load.interrupted;
    result.steps.push_back(std::move(step));
    SearchStep& last = result.steps.back();
    if (is_lost(last.load)) result.lost = last.load.complaints.front();
    if (result.interrupted || !result.lost.empty()) break;
    if (late)
      last.held = Held::unknown;
    else
      search.tried(last.held, last.plan.duration);
    if (last.held == Held::unknown && ++unknown == kMostUnknown) {
      result.limited_by_load = late;
      break;
    }
  }
  result.limit = search.limit();
  result.highest_held = search.highest_held();
  result.lowest_failed = search.lowest_failed();
  return result;
}

}  // namespace joust
