// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Chooses the rates to be tried: doubled until the criterion fails (or divided by four if the first rate
// fails), then between the highest that held and the lowest that failed. A shared machine disturbs tries, so
// a rate fails, or is the highest, by two tries of three.
class RateSearch {
 public:
  explicit RateSearch(double first_rate) : rate_(first_rate) {}

  // Returns the rate of the next try. Empty when both ends are within 2 %, at the ends of the allowed rates,
  // and if lower rates have too few messages to know the figure.
  std::optional<double> next() const;
  void tried(Held held);

  std::optional<double> highest_held() const { return held_; }
  std::optional<double> lowest_failed() const { return failed_; }

 private:
  void conclude(bool held);

  double rate_;
  bool too_low_ = false;                 // the remaining rates have too few messages
  int held_here_ = 0, failed_here_ = 0;  // tries of this rate
  std::optional<double> held_, failed_;
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
  std::optional<double> highest_held, lowest_failed;
  // The load itself was late where the criterion failed: the server may hold a higher rate.
  bool limited_by_load = false;
  bool interrupted = false;
  std::string lost{};  // why no more connections could be opened; then the answer is not known
};

// Runs loads of `plan` at the search's rates, each long enough for the criterion's figure. Ends early after a
// load that was interrupted or could not connect.
SearchResult search_rate(const Criterion& criterion, const LoadPlan& plan,
                         const std::function<LoadResult(const LoadPlan&)>& run);

}  // namespace joust
