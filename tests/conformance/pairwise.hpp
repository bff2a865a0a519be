// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace joust::conformance {

// One choice of each setting: row[setting] < choices[setting].
using Row = std::vector<std::size_t>;

// All combinations, the first setting varying fastest.
inline std::vector<Row> every_row(const std::vector<std::size_t>& choices) {
  std::vector<Row> rows{{}};
  for (const std::size_t count : choices) {
    std::vector<Row> longer;
    for (const Row& row : rows)
      for (std::size_t choice = 0; choice < count; ++choice) {
        longer.push_back(row);
        longer.back().push_back(choice);
      }
    rows = std::move(longer);
  }
  return rows;
}

// The fewest rows in which each choice of each setting occurs, the row of all defaults (zeros) first.
inline std::vector<Row> each_choice(const std::vector<std::size_t>& choices) {
  const std::size_t most = choices.empty() ? 1 : std::ranges::max(choices);
  std::vector<Row> rows(most);
  for (std::size_t i = 0; i < most; ++i)
    for (const std::size_t count : choices) rows[i].push_back(i % count);
  return rows;
}

// The pairs of choices of two settings, or one choice of one, each as a number.
class Pairs {
 public:
  explicit Pairs(const std::vector<std::size_t>& choices) {
    for (const std::size_t count : choices) {
      first_.push_back(all_);
      all_ += count;
    }
  }

  std::size_t count() const { return all_ * all_; }
  // Calls use(number) for each pair of the row.
  template <typename Use>
  void for_each(const Row& row, Use&& use) const {
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a; b < row.size(); ++b) use((first_[a] + row[a]) * all_ + first_[b] + row[b]);
  }

 private:
  std::vector<std::size_t> first_;  // for each setting, the number of its first choice
  std::size_t all_ = 0;
};

// A small set of rows in which each choice of a setting is combined with each choice of every other one. This
// finds faults that need two settings. The row of all defaults (zeros) comes first. Greedy: each row is the
// one with most new pairs.
inline std::vector<Row> pairwise(const std::vector<std::size_t>& choices) {
  const std::vector<Row> all = every_row(choices);
  const Pairs pairs(choices);
  std::vector<bool> missing(pairs.count());
  for (const Row& row : all) pairs.for_each(row, [&](std::size_t pair) { missing[pair] = true; });
  std::vector<Row> rows;
  Row next(choices.size(), 0);
  for (;;) {
    pairs.for_each(next, [&](std::size_t pair) { missing[pair] = false; });
    rows.push_back(next);
    std::size_t most = 0;
    for (const Row& row : all) {
      std::size_t brought = 0;
      pairs.for_each(row, [&](std::size_t pair) { brought += missing[pair] ? 1 : 0; });
      if (brought > most) {
        most = brought;
        next = row;
      }
    }
    if (most == 0) return rows;
  }
}

}  // namespace joust::conformance
