// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/result.hpp"

// The search for the highest rate at which a latency stays below a limit.
namespace joust {

// A load at one rate, and whether it met the criterion.
struct RateTry {
  double rate_per_s = 0;
  bool held = false;
  double length_s = 0.1;
};

// The promised confidence of the interval. The interval is computed for a little more, as the curve by which
// tries fail is only assumed.
inline constexpr double kLimitConfidence = 0.90;

// The limit, as it is in the document: the rate at which an undisturbed try holds as often as it fails.
struct RateLimit {
  double rate_per_s = 0;     // as likely too low as too high
  double low = 0, high = 0;  // contain the limit with the confidence
  double confidence = kLimitConfidence;
};

// A fit of held and failed tries by their rates: the probability that a try holds falls from 1 to 0 along a
// logistic curve in the logarithm of the rate. Neither its place nor its width is known (a server may fail
// within 1 % of rates or within 50 %, and the noise of the figure adds to that), and a share of the tries,
// which is not known either, and is the greater the longer a try lasts, fails at any rate because something
// else disturbs the machine. The limit's interval is that of the posterior distribution over places, widths
// and disturbances.
class LimitFit {
 public:
  // `least` and `most`: ends of the rates in which the limit is, 0 < least < most. At least one try.
  LimitFit(std::span<const RateTry> tries, double least, double most);

  RateLimit limit() const;
  // Returns the rate at which a try holds with this probability, as far as is known: the most is learnt from
  // tries that are certain neither to hold nor to fail.
  double rate_that_holds(double probability) const;

 private:
  static constexpr std::size_t kPlaces = 80, kWidths = 8, kDisturbances = 4;  // of the grid
  struct Place {
    double log_rate = 0;
    std::array<double, kWidths> weights{};  // of all places together 1
    double weight() const;
  };
  struct LogTry {
    double log_rate = 0;
    bool held = false;
    std::array<double, kDisturbances> undisturbed{};  // how likely nothing else has failed it
  };

  static double width_of(std::size_t i);
  void fit(double from, double to);
  double log_likelihood(double place, double width) const;
  double quantile(double share) const;

  std::vector<LogTry> tries_;
  std::vector<Place> places_;
};

// A criterion such as "p99<1ms": a figure of the latency, counted from the intended send, and its limit.
struct Criterion {
  std::string figure;              // "p99", "mean", "max"
  std::optional<double> quantile;  // for a percentile
  Duration limit;

  // Returns the figure; nothing if too few samples lie beyond the percentile.
  std::optional<Duration> of(const Distribution& latency) const;
  // Returns how many messages are needed to know the figure.
  double messages_needed() const;
};

std::expected<Criterion, std::string> parse_criterion(std::string_view text);

// A step, unless a longer one is asked for. Short ones see stalls of the machine in few of them.
inline constexpr Duration kSearchWindow = std::chrono::milliseconds(100),
                          kSearchWarmup = std::chrono::milliseconds(50);

enum class Held : std::uint8_t { yes, no, unknown };

// Chooses the rates to be tried, by many short tries: each where it tells most of the limit, as far as that
// is known from those before (LimitFit). The noise of the figure and a shared machine decide single tries
// near the limit, so it is an interval that all tries give.
class RateSearch {
 public:
  // `least`, `most`: the rates in which the limit is looked for, 0 < least < most.
  RateSearch(double first_rate, double least, double most) : rate_(first_rate), least_(least), most_(most) {}

  // Returns the rate of the next try. Empty when the limit is known within 5 %, or known to be beyond the
  // least or the greatest rate, or if none of many tries has held.
  std::optional<double> next() const;
  void tried(Held held, Duration length = kSearchWindow);
  void lower() { rate_ = std::max(least_, rate_ / 2); }  // this rate tells nothing

  // Returns the limit; nothing before rates have held and failed.
  std::optional<RateLimit> limit() const;
  // Return the tried rates next to the limit, of those that held at or below it and failed at or above it.
  std::optional<double> highest_held() const;
  std::optional<double> lowest_failed() const;

 private:
  bool any(bool held) const;

  std::vector<RateTry> tries_;  // with a known figure
  double rate_, least_, most_;
  std::optional<RateLimit> limit_;
};

struct SearchStep {
  LoadPlan plan;
  LoadResult load;
  Held held = Held::no;
  std::string why;             // in words, unless the rate held
  bool load_was_late = false;  // itself, so the step says nothing of the server
};

struct SearchResult {
  Criterion criterion;
  std::vector<SearchStep> steps;  // all tries, in their order
  std::optional<RateLimit> limit;
  std::optional<double> highest_held, lowest_failed;  // see RateSearch
  std::optional<double> capacity_per_s;               // of the closed loop before
  // The load itself was late again and again where the criterion failed: the server may hold a higher rate.
  bool limited_by_load = false;
  bool is_cut = false;  // the time was over before the interval was narrow
  bool interrupted = false;
  std::string lost{};  // why no more connections could be opened; then the answer is not known
};

// Runs loads of `plan`, first in a closed loop, which finds the capacity, and then at the search's rates,
// each long enough for the criterion's figure. The first rate is that of the plan, or a part of the capacity.
// A load that was late itself says nothing of the server: it is repeated, a few times in all. Ends early
// after a load that was interrupted or could not connect, and begins none after `time`.
SearchResult search_rate(const Criterion& criterion, LoadPlan plan,
                         const std::function<LoadResult(const LoadPlan&)>& run,
                         Duration time = std::chrono::seconds(30));

}  // namespace joust
