// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

// Where the tries of a search turn from held to failed. Pure functions.
namespace joust {

// A load at one rate, and whether it met the criterion.
struct RateTry {
  double rate_per_s = 0;
  bool held = false;
  double length_s = 0.1;
};

// The limit: the rate at which an undisturbed try holds as often as it fails.
struct RateLimit {
  double rate_per_s = 0;     // as likely too low as too high
  double low = 0, high = 0;  // contains the limit with kLimitConfidence
};

// The promised confidence of the interval. The interval is computed for a little more, as the curve by which
// tries fail is only assumed.
inline constexpr double kLimitConfidence = 0.90;

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
  double likelihood(double place, double width) const;
  double quantile(double share) const;

  std::vector<LogTry> tries_;
  std::vector<Place> places_;
};

}  // namespace joust
