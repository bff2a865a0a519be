// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/page/node.hpp"

// The figures of a contestant, each by its key in the summary of the document: "cost_ratio",
// "latency_ns.p99". One table of them is the source of the CSV, of every table and of every picture.
namespace joust::report::page {

enum class Unit { per_s, mb_per_s, ratio, us, ns, share, bytes, number };

struct FigureRow {
  const char* key;
  const char* name;
  Unit unit;
};

std::span<const FigureRow> figure_rows();
// Returns the row of a key, which is in the table.
const FigureRow& figure_row(std::string_view key);

// Returns the unit in words: "us"; empty for ratios, shares and numbers.
const char* unit_text(Unit unit);

struct Measured {
  double value = 0;
  std::optional<double> low{}, high{};  // its interval, if it is known
};

using Figures = std::map<std::string, Measured, std::less<>>;

// Reads the figures of a summary that are not null. Throws WrongDocument.
Figures read_figures(const Node& summary);
// Reads {"median", "low", "high"} or {"estimate", "low", "high"}. Throws WrongDocument.
Measured read_estimate(const Node& node, const char* middle);

// Formats a value for people: "68.0k", "4.83 ms", "8.53", "12 MiB".
std::string figure_text(double value, Unit unit);
// Returns whether the interval of a ratio says anything: not if it is unknown, or contains both directions
// and a factor of ten in each.
bool has_interval(const Measured& ratio);
// Formats a ratio and its interval: "0.962 (0.958 to 0.967)".
std::string ratio_with_interval(const Measured& ratio);
// Returns the text as a part of a file's name: all but ASCII letters and digits become '-'.
std::string file_name_of(std::string text);
// Formats a number exactly, in the fewest digits: "0.9623653886315".
std::string exact(double value);

}  // namespace joust::report::page
