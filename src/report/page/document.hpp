// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/histogram.hpp"
#include "report/race_document.hpp"

// The result of a race as its faces need it, made of its document.
namespace joust::report::page {

// The greatest value of a figure. Bounds of intervals may be greater: two noisy rounds know little.
inline constexpr double kGreatest = 1e18;

enum class Unit { per_s, mb_per_s, ratio, us, ns, share, bytes, number };

// A figure of a contestant, by its key in the summary of the document: "cost_ratio", "latency_ns.p99". One
// table of them is the source of the CSV, of every table and of every picture.
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

// Returns the figures of a summary that are not null; `way` is that to the summary in the document. Throws
// WrongDocument for a value that no figure can be.
Figures figures_of(const document::Summary& summary, const std::string& way);
// Throws WrongDocument for a value that is negative, or above kGreatest.
void require_figure(const std::string& way, double value);

// Formats a value for people: "68.0k", "4.83 ms", "8.53", "12 MiB".
std::string figure_text(double value, Unit unit);
// Returns whether the interval of a ratio says anything: not if it is unknown, or contains both directions
// and a factor of ten in each.
bool has_interval(const Measured& ratio);
// Returns the interval of a ratio; an infinite one if it is not known.
stats::Interval interval_of(const Measured& ratio);
// Formats a ratio and its interval: "0.962 (0.958 to 0.967)".
std::string ratio_with_interval(const Measured& ratio);
// Returns the text as a part of a file's name: all but ASCII letters and digits become '-'.
std::string file_name_of(std::string text);
// Formats a number exactly, in the fewest digits: "0.9623653886315".
std::string exact(double value);

// The figures of a contestant in one trial that counts; one that the trial lacks is empty.
struct Trial {
  std::uint64_t round = 0;
  std::optional<double> throughput{}, cost{};
  std::map<std::string, double, std::less<>> latency_ns{};  // by percentile: "p99"
};

// CPU time of one side in all trials that count, seconds.
struct CpuTime {
  double user_s = 0, system_s = 0;
};

using Kind = race::EntryKind;
using Verdict = report::document::Verdict;
using Check = report::document::Check;
using Threshold = report::document::Threshold;

bool has_few_beyond(const report::document::Latency& latency, std::string_view percentile);

// A contestant of the document, and what is computed of it.
struct Contestant : report::document::Contestant {
  std::string server_engine{}, client_engine{};  // "epoll:trigger=level"; empty for other programs
  Figures figures{};
  std::vector<Trial> counted{};  // the trials that count
  std::optional<CpuTime> server_cpu{}, client_cpu{};
  Distribution latency{};  // of all trials that count; empty if one of them has no histogram

  const Measured* figure(std::string_view key) const;
  // Returns a percentile of latency, such as "p99": the median of the rounds. Where each round has too few
  // samples for it, that of the samples of all rounds together. Null if that is not known either.
  const Measured* percentile(const std::string& key) const;
  // Returns whether its figures are valid; those at_least are valid as bounds.
  bool is_sound() const { return ranked || at_least; }
  // Returns whether its server may be faster than its throughput.
  bool may_be_faster() const { return at_least || limit_unknown.value_or(false); }
  bool has_result() const { return figures.contains("throughput_per_s"); }
  // Returns the CPU time of a message in its server: the median of the rounds, or else that of the trials.
  // Null if it is not known.
  const Measured* server_cpu_us() const;
  // Returns whether few samples lie beyond a percentile of latency, "p999".
  bool has_few_beyond(std::string_view percentile) const {
    return page::has_few_beyond(summary.latency_ns, percentile);
  }
  // Returns its first trial that failed; null if there is none.
  const report::document::Trial* first_failure() const;
};

// The place of a case on a curve of cases that differ in one number.
struct AxisPoint {
  std::string axis{};   // connections, payload, depth, threads or rate
  std::string curve{};  // the same for all points of a curve
  double value = 0;
  std::optional<double> share{};  // of the capacity, where the rate was asked for as a share
};

// A case of the document with its contestants and checks.
struct Case : report::document::Case {
  std::string load_words{};
  std::string identity{};  // protocol and load, without the length; equal in all races of one kind
  std::optional<AxisPoint> point{};
  std::optional<double> rate_per_s{};  // of an open loop
  std::vector<Contestant> contestants{};
  std::vector<Check> checks{};

  const Contestant* find(std::string_view name) const;
  std::vector<const Contestant*> rows() const;  // in the order of rows (report/row_order.hpp)
  // Return the key of the ratio that ranks.
  std::string ratio_key() const;
  bool by_latency() const { return ranked_by != "throughput"; }
  // Returns whether any contestant transfers files, with a protocol or as a command.
  bool carries_files() const;
  bool moves_files() const { return files.has_value(); }
  const char* unit() const { return moves_files() ? "file" : "message"; }
  // Returns whether nothing says what a right reply is: any reply counted.
  bool unverified() const { return !files && verified && !*verified; }
};

struct Document {
  // The document without its cases, checks and contestants, which are in `cases`. What earlier versions of it
  // lack is there; of exit_code nothing is known.
  report::document::Race race{};
  std::vector<Case> cases{};
  std::string json{};  // the document as text

  std::string command() const;  // as for a shell
  const Case* find(std::string_view name) const;
  // Returns whether the race has ended with another exit code than 0, or may have.
  bool fails() const { return race.exit_code != 0; }
};

// Returns the page of a document whose text is `json`. The error names the value that no race has.
std::expected<Document, std::string> document_of(report::document::Race race, std::string json);
// Reads a document. The error names the key that is wrong, or the place where the text is no JSON.
std::expected<Document, std::string> read_document(std::string json);

}  // namespace joust::report::page
