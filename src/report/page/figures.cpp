// SPDX-License-Identifier: MIT
#include "report/page/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cmath>

#include "base/document.hpp"
#include "base/units.hpp"
#include "race/figures/wording.hpp"
#include "report/text.hpp"

namespace joust::report::page {
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

void require_figure(const std::string& way, double value) {
  if (!(value >= 0 && value <= kGreatest))
    throw WrongDocument(fmt::format("{}: is {:g}, and should be between 0 and {:g}", way, value, kGreatest));
}

// The value of an estimate is its median. Bounds are any numbers but negative ones.
Figures figures_of(const document::Summary& summary, const std::string& way) {
  Figures figures;
  documents::each_number(summary, way, [&](const std::string& way_to, double value) {
    const std::string key = way_to.substr(way.empty() ? 0 : way.size() + 1);
    const std::string owner = key.substr(0, key.rfind('.')), member = key.substr(key.rfind('.') + 1);
    if (member == "confidence") return;
    if (member == "low" || member == "high") {
      if (!(value >= 0))
        throw WrongDocument(fmt::format("{}: is {:g}, and should not be negative", way_to, value));
      (member == "low" ? figures[owner].low : figures[owner].high) = value;
      return;
    }
    require_figure(way_to, value);
    figures[member == "median" ? owner : key].value = value;
  });
  for (auto& [key, figure] : figures)
    if (figure.low == 0 && !figure.high) figure.low.reset();  // any ratio: it is not known
  std::erase_if(figures, [](const auto& figure) {
    return std::ranges::find(kRows, figure.first, &FigureRow::key) == kRows.end();
  });
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
  return ratio.low && ratio.high && *ratio.high <= kGreatest &&
         (*ratio.low >= 1 / kFactor || *ratio.high <= kFactor);
}

stats::Interval interval_of(const Measured& ratio) {
  if (!ratio.low || !ratio.high) return {};
  return {.low = *ratio.low, .high = *ratio.high};
}

std::string ratio_with_interval(const Measured& ratio) {
  if (!has_interval(ratio)) return race::ratio_words(ratio.value, 3) + " (interval not known)";
  return race::ratio_with_interval({.estimate = ratio.value, .interval = interval_of(ratio)}, 3);
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
