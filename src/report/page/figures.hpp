// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The figures of a contestant, each by its key in the summary of the document: "cost_ratio",
// "latency_ns.p99". One table of them is the source of the CSV, of every table and of every picture.
namespace joust::report::page {

// A value of a document, which may be anybody's, that is not what it should be. The message begins with the
// key: "contestants[2].summary.ratio: ...".
struct WrongDocument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value of a document, with the way to it. Valid for as long as the document.
class Node {
 public:
  using Json = nlohmann::ordered_json;

  Node(const Json& value, std::string way) : value_(&value), way_(std::move(way)) {}

  // Return a member of an object. Throw WrongDocument if there is none.
  Node operator[](const char* key) const;
  Node member(const std::string& key) const { return (*this)[key.c_str()]; }
  // Returns a member that may be missing or null.
  std::optional<Node> find(const char* key) const;

  bool is_null() const { return value_->is_null(); }
  bool is_object() const { return value_->is_object(); }
  const Json& json() const { return *value_; }
  const std::string& way() const { return way_; }

  // Return the value. Throw WrongDocument if it is of another type, or a number that no figure of a race can
  // be: negative, or above kGreatest.
  std::string text() const;
  double number() const;
  // Returns a bound of an interval, which is any number but a negative one: two noisy rounds know little.
  double bound() const;
  std::uint64_t count() const;
  bool flag() const;
  std::vector<Node> items() const;
  std::vector<std::pair<std::string, Node>> members() const;

  [[noreturn]] void fail(const std::string& why) const;

  static constexpr double kGreatest = 1e18;

 private:
  const Json* value_;
  std::string way_;
};

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
