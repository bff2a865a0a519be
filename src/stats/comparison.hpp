// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stats/intervals.hpp"

namespace joust::stats {

// One contestant's figure by round, such as its throughput or its CPU time per message. Nothing for a round
// in which it was not measured. Figures are positive: a figure that is not counts as missing, because it has
// no ratio.
using Rounds = std::vector<std::optional<double>>;

// The logarithms of the ratio of a contestant to another one, by round: within a round its conditions cancel
// out. Nothing for a round in which either is missing.
using LogRatios = std::vector<std::optional<double>>;
LogRatios log_ratios(const Rounds& contestant, const Rounds& other);
std::vector<double> known(const LogRatios& ratios);

// The probability with which all intervals of a race together contain the true ratios.
inline constexpr double kTogether = 0.95;
// The least share of races between equal contestants in which none of them are told apart.
inline constexpr double kEqualsTied = 0.99;

// A race may end at an early look at its figures. Each look has a share of the errors that are allowed, so
// that a race that stops at a pleasing result is wrong no more often than one that does not look. The last
// look has most of it, so that looking early costs hardly any power.
enum class Look : std::uint8_t { first, second, last };
double share_of(Look look);  // 0.02, 0.05, 0.93

// The ratio of one contestant to another.
struct Ratio {
  double estimate;      // the geometric mean of the ratios of the rounds; NaN when no round has both
  Interval interval{};  // (0, infinity) when it is not known, which takes two rounds, or an expected noise
  double chance = 1;    // how probable so large a difference is between equals, for all pairs together
  std::size_t rounds = 0, left_out = 0;  // rounds that have both, and rounds that do not

  bool is_known() const { return interval.is_known(); }
  bool operator==(const Ratio&) const = default;
};

// Returns the ratio of the other one to this one.
Ratio inverse(Ratio ratio);

// The ratios of every two of several contestants, by paired t statistics of the logarithms. Logarithms make a
// ratio and its inverse count alike.
//
// The intervals contain the true ratios with kTogether, all at the same time (Bonferroni). `chance` is the
// p-value, adjusted for all pairs by Shaffer's step-down procedure: where some contestants differ, fewer of
// the others can be equal. Shaffer, "Modified sequentially rejective multiple test procedures", Journal of
// the American Statistical Association 81, 1986.
//
// Few rounds know little of the noise of one pair. So with three contestants and more, and from three rounds
// on, each variance is drawn towards the geometric mean of all (corrected for its bias), which has the weight
// of kBorrowed degrees of freedom. Compare Smyth, "Linear models and empirical Bayes methods", Statistical
// Applications in Genetics and Molecular Biology 3, 2004, where the weight is estimated. More weight would
// tell equals apart too often where one contestant is much noisier than the others
// (tests/stats/error_test.cpp). With kPairsOfAlike pairs, which four contestants have, and kRoundsOfAlike
// rounds of each, the pairs themselves say whether they are alike: where the logarithms of their variances
// differ by no more than those of one noise do, the mean has the weight of kBorrowedAlike.
//
// Up to kFewRounds rounds know next to nothing of it. Where `expected` has the variance of a round's
// logarithm for a pair, known from within the rounds, the pair's own is drawn towards that one in place of
// the others', with the weight of kOfExpected degrees of freedom: then one round has an interval too.
class Comparisons {
 public:
  static constexpr std::size_t kBorrowed = 2, kBorrowedAlike = 8, kOfExpected = 4, kFewRounds = 3;
  static constexpr std::size_t kPairsOfAlike = 6, kRoundsOfAlike = 6;

  // `pairs` and `expected`: (0, 1), (0, 2), ..., (1, 2), ...; `expected` is empty where none is known.
  Comparisons(std::size_t contestants, std::span<const LogRatios> pairs, Look look = Look::last,
              std::span<const std::optional<double>> expected = {});
  explicit Comparisons(std::span<const Rounds> contestants, Look look = Look::last,
                       std::span<const std::optional<double>> expected = {});

  std::size_t contestants() const { return contestants_; }
  std::size_t pairs() const;
  // Returns the ratio of contestant `one` to `other`. They are different.
  Ratio of(std::size_t one, std::size_t other) const;
  // Returns the difference that these rounds tell in half of all races, for the median pair: 0.03 is 3 %.
  // Infinite when no interval is known.
  double least_difference() const { return least_difference_; }

 private:
  std::size_t place(std::size_t one, std::size_t other) const;  // one < other
  void adjust(std::vector<double> chances, Look look);

  std::size_t contestants_;
  std::vector<Ratio> ratios_;  // of every two, one < other
  double least_difference_;
};

// Compares two contestants alone.
Ratio compare(const LogRatios& ratios);
Ratio compare(const Rounds& contestant, const Rounds& reference);

// Which differences count. Both are fractions: 0.02 is 2 %.
struct Measure {
  double least = 0.02;  // the smallest difference that counts
  double equal = 0.03;  // contestants whose ratio is within this are equal
};

// The least difference above which a race measures nothing: a factor of two.
inline constexpr double kTellsNothing = 1;
// A greater one is not shown: it says only that the rounds are too few.
inline constexpr double kMostShown = 100;

// The conclusion about two contestants. A reader can check the direction by the interval: the first three of
// these name one where the interval does not contain 1.
enum class Decision : std::uint8_t {
  differ,    // told apart (is_told()), and the difference counts
  slight,    // told apart, by about as much as counts: the estimate is less, the interval reaches beyond
  probable,  // the interval does not contain 1, but among equals that is no rare chance
  equal,     // the interval of the ratio is within 1 / (1 + equal) .. 1 + equal
  undecided  // no difference was found, which does not mean that there is none
};

// Returns whether the ratio is not 1: equals have such a ratio in one of a hundred races, among all pairs.
bool is_told(const Ratio& ratio);
Decision decide(const Ratio& ratio, const Measure& measure);

// Returns whether it is known of two contestants that they differ, or that they are equal.
inline bool is_decided(Decision decision) {
  return decision == Decision::differ || decision == Decision::slight || decision == Decision::equal;
}

// Returns by how many times the rounds must grow until the interval is as narrow as the range of the equal,
// if the noise stays as it is: any difference beyond that range is then found. At least 1. Infinite where the
// rounds are too few to know the noise.
double rounds_to_rule_out(const Ratio& ratio, const Measure& measure);

// Returns by what fraction the reference may differ from itself, when it enters twice: the farther end of the
// interval of its ratio. Infinite when that interval is not known.
double aa_spread(const Ratio& reference_to_itself);

enum class Better : std::uint8_t { greater, smaller };

// The places that a contestant may have, from 1, the best. It is known of every contestant outside this range
// that it is better, or worse. Two contestants whose ranges overlap need not be equal.
struct Places {
  int first = 1, last = 1;
  bool operator==(const Places&) const = default;
};

// Returns the places of so many contestants. `is_better` says whether the first one is known to be better
// than the second one.
std::vector<Places> places_of(std::size_t contestants,
                              const std::function<bool(std::size_t, std::size_t)>& is_better);

}  // namespace joust::stats
