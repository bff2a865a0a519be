// SPDX-License-Identifier: MIT
#include "load/limit_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
  double sum = 0;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    Place& place = places_[i];
    place.log_rate = from + (to - from) * static_cast<double>(i) / static_cast<double>(kPlaces - 1);
    for (std::size_t w = 0; w < kWidths; ++w)
      sum += place.weights[w] = likelihood(place.log_rate, width_of(w));
  }
  for (Place& place : places_)
    for (double& weight : place.weights) weight /= sum;
}

// A search has few tries, and no probability is below kUnlucky, so the product is no smaller than a double
// can be.
double LimitFit::likelihood(double place, double width) const {
  std::array<double, kDisturbed.size()> products{};
  for (std::size_t i = 0; i < products.size(); ++i) products[i] = kDisturbed[i].weight;
  for (const LogTry& one : tries_) {
    const double undisturbed = holds(one.log_rate, place, width);
    for (std::size_t i = 0; i < products.size(); ++i) {
      const double held = std::clamp(one.undisturbed[i] * undisturbed, kLucky, 1 - kUnlucky);
      products[i] *= one.held ? held : 1 - held;
    }
  }
  double sum = 0;
  for (const double product : products) sum += product;
  return sum;
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

}  // namespace joust
