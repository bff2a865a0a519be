// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
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

// A small set of rows in which each choice of a setting is combined with each choice of every other one. This
// finds faults that need two settings. The row of all defaults (zeros) comes first. Greedy: each row is the
// one with most new pairs.
inline std::vector<Row> pairwise(const std::vector<std::size_t>& choices) {
  using Pair = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  const auto pairs_of = [](const Row& row) {
    std::set<Pair> pairs;
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a; b < row.size(); ++b) pairs.insert({a, row[a], b, row[b]});
    return pairs;
  };
  const std::vector<Row> all = every_row(choices);
  std::set<Pair> missing;
  for (const Row& row : all) missing.merge(pairs_of(row));
  std::vector<Row> rows;
  Row next(choices.size(), 0);
  for (;;) {
    for (const Pair& pair : pairs_of(next)) missing.erase(pair);
    rows.push_back(next);
    if (missing.empty()) return rows;
    std::size_t most = 0;
    for (const Row& row : all) {
      std::size_t brought = 0;
      for (const Pair& pair : pairs_of(row)) brought += missing.count(pair);
      if (brought > most) {
        most = brought;
        next = row;
      }
    }
  }
}

}  // namespace joust::conformance
