// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/series.hpp"
#include "measure/histogram.hpp"
#include "stats/comparison.hpp"

// Results of the same race from several days or hosts, as one.
namespace joust::history {

// A contestant in one of the races, as it is in the document joust-merge/1.
struct RaceOfMany {
  std::string label{};  // its name, day and host
  std::size_t rounds = 0;
  std::optional<double> ratio{}, cost_ratio{};  // to the reference in the same race
};

struct Merged {
  std::string case_{}, contestant{}, reference{};
  std::vector<RaceOfMany> races{};
  // Over the ratios of the races, which are one value each: so their scatter is in the interval.
  stats::Ratio ratio{.estimate = 1}, cost_ratio{.estimate = 1};
  Distribution latency{};               // of all races; empty if a document has none
  std::vector<std::string> left_out{};  // races that are not in the ratios, with the reason
};

// A result, with the name that it was given.
struct NamedDocument {
  std::string name{};
  report::page::Document document{};
};

// Returns every contestant of every case of the documents. These are of the same race: see
// why_not_the_same(). The reference of a case is that of the first document.
std::vector<Merged> merge(std::span<const NamedDocument> documents);

// Returns the label of a result: "17 of 2026-01-31, here".
std::string label_of(const NamedDocument& result);

}  // namespace joust::history
