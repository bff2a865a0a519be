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

enum class Held : std::uint8_t { yes, no, unknown };

// Chooses the rates to be tried: doubled until the criterion fails twice (or divided by four if the first
// rate fails), then where a try tells most of the limit (LimitFit), by many short tries. The noise of the
// figure and a shared machine decide single tries near the limit, so it is an interval that all tries give.
class RateSearch {
 public:
  explicit RateSearch(double first_rate) : rate_(first_rate) {}

  // Returns the rate of the next try. Empty when the interval of the limit is 5 % wide, or so many tries were
  // fitted as users have time for; at the ends of the allowed rates; and if lower rates have too few messages
  // to know the figure.
  std::optional<double> next() const;
  void tried(Held held);

  // Returns the limit; nothing before rates have held and failed.
  const std::optional<RateLimit>& limit() const { return limit_; }
  // Return the tried rates next to the limit, of those that held at or below it and failed at or above it.
  std::optional<double> highest_held() const;
  std::optional<double> lowest_failed() const;

 private:
  void conclude(bool held);
  void fit();

  std::vector<RateTry> tries_;  // with a known figure
  double rate_;
  bool too_low_ = false;                 // the remaining rates have too few messages
  int held_here_ = 0, failed_here_ = 0;  // tries of this rate
  std::optional<double> held_, failed_;  // the first rates of either kind that are next to each other
  std::optional<RateLimit> limit_;
  int fitted_ = 0;  // fits so far
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
  std::optional<double> capacity_per_s;               // of the closed loop before, where no rate was given
  // The load itself was late again and again where the criterion failed: the server may hold a higher rate.
  bool limited_by_load = false;
  bool is_cut = false;  // the time was over before the interval was narrow
  bool interrupted = false;
  std::string lost{};  // why no more connections could be opened; then the answer is not known
};

// Runs loads of `plan` at the search's rates, each long enough for the criterion's figure. The first rate is
// that of the plan; without one a closed loop finds the capacity, of which it is a part. A load that was late
// itself says nothing of the server: it is repeated, a few times in all. Ends early after a load that was
// interrupted or could not connect, and begins none after `time`.
SearchResult search_rate(const Criterion& criterion, const LoadPlan& plan,
                         const std::function<LoadResult(const LoadPlan&)>& run,
                         Duration time = std::chrono::seconds(30));

}  // namespace joust
