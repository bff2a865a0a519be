// SPDX-License-Identifier: MIT
#include "load/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust {
namespace {

// Disturbances in a second that make a try fail whatever the rate, and how likely so many are.
struct Disturbed {
  double per_s, weight;
};
constexpr std::array<Disturbed, 4> kDisturbed{{{0, 0.35}, {0.3, 0.3}, {1.2, 0.2}, {4, 0.15}}};
// The least and the greatest width of the curve: twice that is the logarithm of the ratio of the rates at
// which 73 % and 27 % of tries hold.
constexpr double kLeastWidth = 0.003, kMostWidth = 0.4;
// The probabilities of a try are kept this far from certainty, so that one try alone never decides.
constexpr double kLucky = 0.002, kUnlucky = 1e-4;
// Places whose weight is less than this share of the greatest do not matter.
constexpr double kNegligible = 1e-5;
constexpr double kConfidence = 0.95;

double holds(double log_rate, double place, double width) {
  return 1 / (1 + std::exp(std::clamp((log_rate - place) / width, -40.0, 40.0)));
}

}  // namespace

double LimitFit::Place::weight() const {
  double sum = 0;
  for (const double each : weights) sum += each;
  return sum;
}

double LimitFit::width_of(std::size_t i) {
  return kLeastWidth *
         std::pow(kMostWidth / kLeastWidth, static_cast<double>(i) / static_cast<double>(kWidths - 1));
}

// Fits in a coarse grid first, and again where the limit can be.
LimitFit::LimitFit(std::span<const RateTry> tries, double least, double most) {
  static_assert(kDisturbed.size() == kDisturbances);
  for (const RateTry& one : tries) {
    LogTry& log_try = tries_.emplace_back(LogTry{.log_rate = std::log(one.rate_per_s), .held = one.held});
    for (std::size_t i = 0; i < kDisturbed.size(); ++i)
      log_try.undisturbed[i] = std::exp(-kDisturbed[i].per_s * one.length_s);
  }
  double from = std::log(least), to = std::log(most);
  constexpr int kTimes = 3;
  for (int time = 0; time < kTimes; ++time) {
    fit(from, to);
    const double step = places_[1].log_rate - places_[0].log_rate;
    const double greatest = std::ranges::max_element(places_, {}, &Place::weight)->weight();
    const auto matters = [&](const Place& place) { return place.weight() > kNegligible * greatest; };
    from = std::max(from, std::ranges::find_if(places_, matters)->log_rate - step);
    to = std::min(to, std::find_if(places_.rbegin(), places_.rend(), matters)->log_rate + step);
  }
}

// Computes the weight of each place in a grid, from the likelihoods of all tries.
void LimitFit::fit(double from, double to) {
  places_.assign(kPlaces, {});
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    Place& place = places_[i];
    place.log_rate = from + (to - from) * static_cast<double>(i) / static_cast<double>(kPlaces - 1);
    for (std::size_t w = 0; w < kWidths; ++w)
      greatest = std::max(greatest, place.weights[w] = log_likelihood(place.log_rate, width_of(w)));
  }
  for (Place& place : places_)
    for (double& weight : place.weights) sum += weight = std::exp(weight - greatest);
  for (Place& place : places_)
    for (double& weight : place.weights) weight /= sum;
}

// The product of many probabilities is smaller than a double can be, so its scale is kept apart.
double LimitFit::log_likelihood(double place, double width) const {
  constexpr double kSmall = 1e-100;
  const double log_small = std::log(kSmall);
  std::array<double, kDisturbed.size()> products{}, logs{};
  for (std::size_t i = 0; i < products.size(); ++i) products[i] = kDisturbed[i].weight;
  for (const LogTry& one : tries_) {
    const double undisturbed = holds(one.log_rate, place, width);
    for (std::size_t i = 0; i < products.size(); ++i) {
      const double held = std::clamp(one.undisturbed[i] * undisturbed, kLucky, 1 - kUnlucky);
      products[i] *= one.held ? held : 1 - held;
      if (products[i] >= kSmall) continue;
      products[i] /= kSmall;
      logs[i] += log_small;
    }
  }
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += std::log(products[i]);
  const double greatest = *std::ranges::max_element(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - greatest);
  return greatest + std::log(sum);
}

// Returns the place below which this share of the weight lies.
double LimitFit::quantile(double share) const {
  const double step = places_[1].log_rate - places_[0].log_rate;
  double below = 0;
  for (const Place& place : places_) {
    const double weight = place.weight();
    if (below + weight >= share) return place.log_rate + step * ((share - below) / weight - 0.5);
    below += weight;
  }
  return places_.back().log_rate;
}

RateLimit LimitFit::limit() const {
  return {.rate_per_s = std::exp(quantile(0.5)),
          .low = std::exp(quantile((1 - kConfidence) / 2)),
          .high = std::exp(quantile((1 + kConfidence) / 2))};
}

double LimitFit::rate_that_holds(double probability) const {
  double low = places_.front().log_rate, high = places_.back().log_rate;
  constexpr int kHalvings = 20;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    double share = 0;
    for (const Place& place : places_)
      for (std::size_t w = 0; w < kWidths; ++w)
        share += place.weights[w] * holds(middle, place.log_rate, width_of(w));
    (share > probability ? low : high) = middle;
  }
  return std::exp(low);
}
namespace {

constexpr double kCloseEnough = 1.05;
// Parts of the capacity in a closed loop, which no rate exceeds: the first rate, the least one (one part of
// so many), and the greatest one, since that loop has its noise too.
constexpr double kOfCapacity = 0.6, kRange = 100, kAboveCapacity = 1.5;
constexpr Duration kCapacityWindow = std::chrono::seconds(1);
constexpr std::size_t kHopeless = 25;  // tries of which none has held
// Tries that say nothing: for too few messages, or because the load itself was late (a fifth of all then);
// and late ones in a row, after which a lower rate is tried.
constexpr std::size_t kMostUnknown = 20, kLateHere = 4;
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
  const auto value = criterion.of(load.latency_ns);
  step.held = Held::no;
  if (load.interrupted) {
    step.held = Held::unknown;
    step.why = "interrupted";
  } else if (load.connections.failed > 0) {
    step.why = fmt::format("{} failed", counted(load.connections.failed, "connection"));
  } else if (load.messages.failed > 0) {
    step.why = fmt::format("{} failed", counted(load.messages.failed, "message"));
  } else if (load.messages.lost.value_or(0) > 0) {
    step.why = fmt::format("{} lost", counted(*load.messages.lost, "message"));
  } else if (!load.kept_rate()) {
    step.why = fmt::format("only {:.1f} % of the rate was kept", 100 * load.achieved().value_or(0));
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
  return load.connections.ok == 0 && load.failures(Stage::connect) > 0 && !load.messages_of_errors.empty();
}

// Returns whether the load's own lateness takes half of the allowed latency.
bool is_late(const Criterion& criterion, const LoadResult& load) {
  const auto late = criterion.of(load.send_lateness());
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
  constexpr double kSamples = 12;  // beyond the percentile; ten make it known
  return quantile ? kSamples / (1 - *quantile) : 100;
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
    rate_ = std::clamp(2 * rate_, least_, most_);
    return;
  }
  tries_.push_back({.rate_per_s = rate_,
                    .held = held == Held::yes,
                    .length_s = std::chrono::duration<double>(length).count()});
  const LimitFit fit(tries_, least_, most_);
  limit_ = fit.limit();
  const double lowest = std::ranges::min_element(tries_, {}, &RateTry::rate_per_s)->rate_per_s;
  rate_ = std::clamp(fit.rate_that_holds(tries_.size() % 2 == 0 ? 1 - kOften : kOften),
                     std::clamp(lowest / 2, least_, most_), most_);
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
    result.lost = load.messages_of_errors.front();
  else if (load.messages.verified == 0)
    result.lost = load.messages_of_errors.empty() ? "no reply" : load.messages_of_errors.front();
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
  const double known = std::max(1.0, enough);  // lower rates have too few messages
  double least = std::max(known, *result.capacity_per_s / kRange);
  if (plan.open_loop()) least = std::max(known, std::min(least, plan.rate_per_s));
  const double most = std::max(kAboveCapacity * *result.capacity_per_s, 2 * least);
  RateSearch search(
      plan.open_loop() ? plan.rate_per_s : std::max(least, kOfCapacity * *result.capacity_per_s), least,
      std::max(most, plan.rate_per_s));
  std::size_t late = 0, late_in_a_row = 0, unknown = 0;
  while (const auto rate = search.next()) {
    if (result.is_cut = Clock::now() >= end; result.is_cut) break;
    SearchStep step{.plan = plan_at(*rate, criterion, plan), .load = {}, .why = {}};
    step.load = run(step.plan);
    judge(criterion, step);
    step.load_was_late = step.held == Held::no && is_late(criterion, step.load);
    if (step.load_was_late) step.why += "; the load itself was late", step.held = Held::unknown;
    result.interrupted = step.load.interrupted;
    result.steps.push_back(std::move(step));
    const SearchStep& last = result.steps.back();
    if (is_lost(last.load)) result.lost = last.load.messages_of_errors.front();
    if (result.interrupted || !result.lost.empty()) break;
    if (!last.load_was_late) {
      late_in_a_row = 0;
      if (last.held == Held::unknown && ++unknown == kMostUnknown) break;
      search.tried(last.held, last.plan.duration);
    } else if (++late >= kMostUnknown && 5 * late > result.steps.size()) {
      result.limited_by_load = true;
      break;
    } else if (++late_in_a_row % kLateHere == 0) {
      search.lower();
    }
  }
  result.limit = search.limit();
  result.highest_held = search.highest_held();
  result.lowest_failed = search.lowest_failed();
  return result;
}

}  // namespace joust
