// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/page/pictures.hpp"
#include "report/page/ratios.hpp"

namespace joust::report::page {
namespace {

constexpr double kLeft = 62, kPlotTop = 12, kPlotBottom = 252, kLegendRow = 20;
constexpr const char* kDashes = "5 4";

struct PercentilePoint {
  double beyond = 0;  // how many times rarer than every reply: 100 is the 99th percentile
  double latency_ns = 0;
  bool sure = true;
  std::string name{};
};

struct LatencyCurve {
  const Contestant* contestant = nullptr;
  std::vector<PercentilePoint> points{};
};

std::vector<PercentilePoint> points_of(const Contestant& contestant) {
  static constexpr std::tuple<const char*, const char*, double> kPercentiles[] = {
      {"p50", "p50", 2}, {"p90", "p90", 10}, {"p99", "p99", 100}, {"p999", "p99.9", 1000}};
  std::vector<PercentilePoint> points;
  for (const auto& [key, name, beyond] : kPercentiles)
    if (const Measured* const value = contestant.figure(fmt::format("latency_ns.{}", key)))
      points.push_back({beyond, value->value, !contestant.has_few_beyond(key), name});
  const Measured* const most = contestant.figure("latency_ns.max");
  const Measured* const samples = contestant.figure("latency_ns.samples");
  if (most != nullptr && samples != nullptr && samples->value > 1)
    points.push_back({samples->value, most->value, false, "max"});
  std::erase_if(points, [](const PercentilePoint& point) { return point.latency_ns <= 0; });
  return points;
}

std::vector<LatencyCurve> curves_of_latency(const Case& load_case) {
  std::vector<LatencyCurve> curves;
  for (const Contestant* contestant : load_case.rows())
    if (std::vector<PercentilePoint> points = points_of(*contestant); points.size() > 1)
      curves.push_back({contestant, std::move(points)});
  return curves;
}

// Returns the percentile of a tick, a power of ten: 100 is "p99".
std::string percentile_label(double beyond) {
  const int nines = static_cast<int>(std::lround(std::log10(beyond)));
  return fmt::format("p{:.{}f}", 100 * (1 - 1 / beyond), std::max(0, nines - 2));
}

Markup percentile_axis(const Scale& across, double most) {
  Markup axis;
  std::vector<double> ticks{2};
  for (double tick = 10; tick <= most * 1.001 && ticks.size() < 8; tick *= 10) ticks.push_back(tick);
  for (const double tick : ticks) {
    const double x = across.at(tick);
    axis += thin_line(x, kPlotTop, x, kPlotBottom);
    axis += words({.x = x, .y = kPlotBottom + 15, .anchor = Anchor::middle, .faint = true},
                  percentile_label(tick));
  }
  return axis;
}

// Returns the points of the line: every percentile between the first and the last mark, from the histogram
// where the document has it, or else the marks alone.
std::vector<PercentilePoint> line_of(const LatencyCurve& curve) {
  constexpr double kStepsOfTen = 24;
  const Distribution& latency = curve.contestant->latency;
  if (latency.count() < 2) return curve.points;
  std::vector<PercentilePoint> points;
  const double last = curve.points.back().beyond;
  for (double beyond = curve.points.front().beyond; beyond < last; beyond *= std::pow(10, 1 / kStepsOfTen)) {
    const double quantile = 1 - 1 / beyond;
    points.push_back(
        {beyond, static_cast<double>(latency.value_at(quantile)), !latency.few_beyond(quantile)});
  }
  points.push_back(curve.points.back());
  std::erase_if(points, [](const PercentilePoint& point) { return point.latency_ns <= 0; });
  return points;
}

Markup drawn(const LatencyCurve& curve, std::size_t series, const Scale& across, const Scale& up) {
  Markup markup;
  std::vector<std::pair<double, double>> sure, unsure;  // few samples lie beyond the rarest only
  for (const PercentilePoint& point : line_of(curve)) {
    const std::pair place(across.at(point.beyond), up.at(point.latency_ns));
    if (point.sure) sure.push_back(place);
    if (!point.sure && unsure.empty() && !sure.empty()) unsure.push_back(sure.back());
    if (!point.sure) unsure.push_back(place);
  }
  markup += polyline(series, sure, 2, "");
  markup += polyline(series, unsure, 2, kDashes);
  for (const PercentilePoint& point : curve.points) {
    const std::string title =
        fmt::format("{}, {}: {}{}", curve.contestant->name, point.name,
                    figure_text(point.latency_ns, Unit::ns), point.sure ? "" : " (few samples)");
    markup += mark(series, across.at(point.beyond), up.at(point.latency_ns), 4.5, title, point.latency_ns,
                   !point.sure);
  }
  return markup;
}

std::string note_of_latency(const Contestant& contestant) {
  const Measured* const p99 = contestant.figure("latency_ns.p99");
  const Measured* const p50 = contestant.figure("latency_ns.p50");
  std::string note;
  if (p50 != nullptr) note = "p50 " + figure_text(p50->value, Unit::ns);
  if (p99 != nullptr) note += (note.empty() ? "p99 " : ", p99 ") + figure_text(p99->value, Unit::ns);
  return note;
}

}  // namespace

std::optional<Picture> latency_picture(const Case& load_case) {
  const std::vector<LatencyCurve> curves = curves_of_latency(load_case);
  if (curves.empty()) return std::nullopt;
  std::vector<double> values, beyond{2};
  for (const LatencyCurve& curve : curves)
    for (const PercentilePoint& point : curve.points) {
      values.push_back(point.latency_ns);
      beyond.push_back(std::max(2.0, point.beyond));
    }
  const double right = kWidth - kMargin - 12;
  const Scale across(Scale::Kind::logarithmic, beyond, 0.02, kLeft, right);
  const Scale up(Scale::Kind::logarithmic, values, 0.06, kPlotBottom, kPlotTop);
  Picture picture{
      .name = "latency",
      .caption = load_case.moves_files() ? "Time of a command by percentile" : "Latency by percentile",
      .how =
          "All rounds' samples together: the table has the median of the rounds. Lower is "
          "better. Each step to the right is a rarer reply: at p99 one of a hundred is slower. "
          "Dashed lines lead to hollow marks, which fewer than a hundred samples lie beyond.",
      .height = kPlotBottom + 34 + kLegendRow * static_cast<double>(curves.size())};
  picture.content = percentile_axis(across, *std::ranges::max_element(beyond)) +
                    vertical_axis(up, kLeft, right, 6, latency_label);
  for (const LatencyCurve& curve : curves)
    picture.content += drawn(curve, series_of(load_case, *curve.contestant), across, up);
  double y = kPlotBottom + 40;
  for (const LatencyCurve& curve : curves) {
    picture.content += name_row(series_of(load_case, *curve.contestant), y, shown_name(*curve.contestant),
                                note_of_latency(*curve.contestant));
    y += kLegendRow;
  }
  return picture;
}

}  // namespace joust::report::page
