// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/limit_fit.hpp"
#include "load/result.hpp"

// The search for the highest rate at which a latency stays below a limit.
namespace joust {

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
  std::string why;  // in words, unless the rate held
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
