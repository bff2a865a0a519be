// SPDX-License-Identifier: MIT
#include "report/page/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cmath>

#include "base/units.hpp"
#include "race/figures/wording.hpp"
#include "report/text.hpp"

namespace joust::report::page {
namespace {

// Returns what a value is, in words: "a string".
std::string kind_of(const Node::Json& value) {
  const std::string name = value.type_name();
  return (name == "array" || name == "object" ? "an " : name == "null" ? "" : "a ") + name;
}

}  // namespace

void Node::fail(const std::string& why) const {
  throw WrongDocument(fmt::format("{}: {}", way_.empty() ? "the document" : way_, why));
}

Node Node::operator[](const char* key) const {
  if (!value_->is_object()) fail(fmt::format("is {}, and should be an object", kind_of(*value_)));
  const auto found = value_->find(key);
  std::string way = way_.empty() ? key : fmt::format("{}.{}", way_, key);
  if (found == value_->end()) throw WrongDocument(way + ": the key is missing");
  return {*found, std::move(way)};
}

std::optional<Node> Node::find(const char* key) const {
  if (!value_->is_object() || !value_->contains(key)) return std::nullopt;
  const Node member = (*this)[key];
  return member.is_null() ? std::nullopt : std::optional(member);
}

std::string Node::text() const {
  if (!value_->is_string()) fail(fmt::format("is {}, and should be a string", kind_of(*value_)));
  return value_->get<std::string>();
}

double Node::number() const {
  if (!value_->is_number()) fail(fmt::format("is {}, and should be a number", kind_of(*value_)));
  const auto number = value_->get<double>();
  if (!(number >= 0 && number <= kGreatest))
    fail(fmt::format("is {:g}, and should be between 0 and {:g}", number, kGreatest));
  return number;
}

double Node::bound() const {
  if (!value_->is_number()) fail(fmt::format("is {}, and should be a number", kind_of(*value_)));
  const auto number = value_->get<double>();
  if (!(number >= 0)) fail(fmt::format("is {:g}, and should not be negative", number));
  return number;
}

std::uint64_t Node::count() const {
  if (value_->is_number_unsigned())
    return value_->get<std::uint64_t>();  // a seed may be greater than a figure
  const double value = number();
  if (value != std::floor(value)) fail(fmt::format("is {:g}, and should be a whole number", value));
  return static_cast<std::uint64_t>(value);
}

bool Node::flag() const {
  if (!value_->is_boolean()) fail(fmt::format("is {}, and should be true or false", kind_of(*value_)));
  return value_->get<bool>();
}

std::vector<Node> Node::items() const {
  if (!value_->is_array()) fail(fmt::format("is {}, and should be an array", kind_of(*value_)));
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < value_->size(); ++i)
    nodes.emplace_back((*value_)[i], fmt::format("{}[{}]", way_, i));
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!value_->is_object()) fail(fmt::format("is {}, and should be an object", kind_of(*value_)));
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : value_->items())
    nodes.emplace_back(key, Node(value, fmt::format("{}.{}", way_, key)));
  return nodes;
}
namespace {

constexpr std::array kRows{
    FigureRow{"trials", "trials", Unit::number},
    FigureRow{"throughput_per_s", "throughput", Unit::per_s},
    FigureRow{"mb_per_s", "throughput in bytes", Unit::mb_per_s},
    FigureRow{"deliveries_per_s", "deliveries", Unit::per_s},
    FigureRow{"ratio", "ratio of throughput", Unit::ratio},
    FigureRow{"server_cpu_us_per_message", "server CPU of a message", Unit::us},
    FigureRow{"cost_us_per_message", "cost of a message", Unit::us},
    FigureRow{"cost_ratio", "ratio of cost", Unit::ratio},
    FigureRow{"latency_ns.mean", "latency mean", Unit::ns},
    FigureRow{"latency_ns.p50", "latency p50", Unit::ns},
    FigureRow{"latency_ns.p90", "latency p90", Unit::ns},
    FigureRow{"latency_ns.p99", "latency p99", Unit::ns},
    FigureRow{"latency_ns.p999", "latency p99.9", Unit::ns},
    FigureRow{"latency_ns.max", "latency max", Unit::ns},
    FigureRow{"latency_ns.samples", "latency samples", Unit::number},
    FigureRow{"latency_ns.intervals.mean", "latency mean, by round", Unit::ns},
    FigureRow{"latency_ns.intervals.p50", "latency p50, by round", Unit::ns},
    FigureRow{"latency_ns.intervals.p99", "latency p99, by round", Unit::ns},
    FigureRow{"latency_ns.intervals.p999", "latency p99.9, by round", Unit::ns},
    FigureRow{"latency_ratio.mean", "ratio of latency mean", Unit::ratio},
    FigureRow{"latency_ratio.p50", "ratio of latency p50", Unit::ratio},
    FigureRow{"latency_ratio.p99", "ratio of latency p99", Unit::ratio},
    FigureRow{"latency_ratio.p999", "ratio of latency p99.9", Unit::ratio},
    FigureRow{"schedule.kept_fraction", "share of the rate that was kept", Unit::share},
    FigureRow{"schedule.uncorrected_latency_ns.p99", "latency p99, uncorrected", Unit::ns},
    FigureRow{"schedule.send_lateness_ns.p99", "lateness of sends p99", Unit::ns},
    FigureRow{"loss.lost", "messages lost", Unit::number},
    FigureRow{"loss.of", "messages expected", Unit::number},
    FigureRow{"server_utilisation", "server CPU in use", Unit::share},
    FigureRow{"client_utilisation", "client CPU in use", Unit::share},
    FigureRow{"cpu_us_per_message.server", "server CPU of a message, median of trials", Unit::us},
    FigureRow{"cpu_us_per_message.client", "client CPU of a message, median of trials", Unit::us},
    FigureRow{"busy_us_per_message", "busy CPUs of a message", Unit::us},
    FigureRow{"switches_per_message.server", "server context switches of a message", Unit::number},
    FigureRow{"switches_per_message.client", "client context switches of a message", Unit::number},
    FigureRow{"system_calls_per_message.server", "server system calls of a message", Unit::number},
    FigureRow{"system_calls_per_message.client", "client system calls of a message", Unit::number},
    FigureRow{"peak_memory_bytes.server", "server memory", Unit::bytes},
    FigureRow{"peak_memory_bytes.client", "client memory", Unit::bytes},
};

// Returns the value at the end of a dotted way. Nothing if a part of the way is null, as is the schedule of a
// closed loop.
std::optional<Node> value_at(Node from, std::string_view way) {
  while (!way.empty() && !from.is_null()) {
    const std::size_t dot = std::min(way.find('.'), way.size());
    from = from.member(std::string(way.substr(0, dot)));
    way.remove_prefix(std::min(dot + 1, way.size()));
  }
  return from.is_null() ? std::nullopt : std::optional(from);
}

std::optional<double> bound_of(const Node& node, const char* side) {
  const Node bound = node[side];
  return bound.is_null() ? std::nullopt : std::optional(bound.bound());
}

}  // namespace

std::span<const FigureRow> figure_rows() {
  return kRows;
}

const FigureRow& figure_row(std::string_view key) {
  const auto found = std::ranges::find(kRows, key, [](const FigureRow& row) { return row.key; });
  assert(found != kRows.end());
  return *found;
}

const char* unit_text(Unit unit) {
  switch (unit) {
    case Unit::per_s:
      return "1/s";
    case Unit::mb_per_s:
      return "MB/s";
    case Unit::us:
      return "us";
    case Unit::ns:
      return "ns";
    case Unit::bytes:
      return "bytes";
    case Unit::ratio:
    case Unit::share:
    case Unit::number:
      break;
  }
  return "";
}

Measured read_estimate(const Node& node, const char* middle) {
  Measured read{.value = node[middle].number(), .low = bound_of(node, "low"), .high = bound_of(node, "high")};
  if (read.low == 0 && !read.high) read.low.reset();  // any ratio: it is not known
  return read;
}

Figures read_figures(const Node& summary) {
  Figures figures;
  for (const FigureRow& row : kRows) {
    const std::optional<Node> value = value_at(summary, row.key);
    if (!value) continue;
    figures[row.key] =
        value->is_object() ? read_estimate(*value, "median") : Measured{.value = value->number()};
  }
  return figures;
}

std::string figure_text(double value, Unit unit) {
  switch (unit) {
    case Unit::per_s:
      return format_count(value);
    case Unit::ratio:
      return race::ratio_words(value, 3);
    case Unit::ns:
      return format_ns(value);
    case Unit::share:
      return race::percent(value);
    case Unit::bytes:
      return format_bytes(value);
    case Unit::mb_per_s:
    case Unit::us:
    case Unit::number:
      break;
  }
  return plain_number(value);
}

bool has_interval(const Measured& ratio) {
  constexpr double kFactor = 10;
  return ratio.low && ratio.high && *ratio.high <= Node::kGreatest &&
         (*ratio.low >= 1 / kFactor || *ratio.high <= kFactor);
}

std::string ratio_with_interval(const Measured& ratio) {
  if (!has_interval(ratio)) return race::ratio_words(ratio.value, 3) + " (interval not known)";
  return race::ratio_with_interval(
      {.estimate = ratio.value, .interval = {.low = *ratio.low, .high = *ratio.high}}, 3);
}

std::string file_name_of(std::string text) {
  constexpr std::size_t kLongest = 100;  // of the 255 bytes that file systems allow
  text.resize(std::min(text.size(), kLongest));
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return text;
}

std::string exact(double value) {
  return fmt::format("{}", value);
}

}  // namespace joust::report::page
