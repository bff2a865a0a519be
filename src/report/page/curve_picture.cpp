// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/units.hpp"
#include "report/page/pictures.hpp"
#include "report/page/ratios.hpp"

namespace joust::report::page {
namespace {

constexpr double kCurveLeft = 62, kCurveTop = 12, kCurveBottom = 232, kCurveLegend = 20;

struct CurvePoint {
  const Heat* heat = nullptr;
  const Runner* runner = nullptr;
  double at = 0, value = 0;
};

// The points of one contestant, which is known by its name.
struct NamedCurve {
  std::string name{};
  std::vector<CurvePoint> points{};
};

std::vector<NamedCurve> named_curves(const HeatCurve& curve, const FigureRow& figure) {
  std::vector<NamedCurve> named;
  for (const Heat* heat : curve.heats)
    for (const Runner& runner : heat->runners) {
      const std::string_view key = figure.key, latency = "latency_ns.";
      const Measured* const value = key.starts_with(latency)
                                        ? runner.percentile(std::string(key.substr(latency.size())))
                                        : runner.figure(key);
      if (runner.kind != Kind::contestant || value == nullptr) continue;
      auto known = std::ranges::find(named, runner.name, &NamedCurve::name);
      if (known == named.end()) known = named.insert(named.end(), NamedCurve{runner.name});
      known->points.push_back({heat, &runner, heat->point->value, value->value});
    }
  for (NamedCurve& one : named) std::ranges::stable_sort(one.points, {}, &CurvePoint::at);
  return named;
}

// A range of more than this factor is drawn by its logarithms.
constexpr double kWide = 6;

// `always`: also in a narrow range, as of latencies, whose pictures are compared with each other.
Scale::Kind kind_for(const std::vector<double>& values, bool always = false) {
  const auto [least, most] = std::ranges::minmax(values);
  return least > 0 && (always || most > kWide * least) ? Scale::Kind::logarithmic : Scale::Kind::linear;
}

std::string size_label(double value) {
  return format_size(static_cast<std::uint64_t>(value));
}

std::string us_label(double value) {
  return fmt::format("{:.4g} us", value);
}

// Returns the figure with its unit.
std::string figure_with_unit(double value, Unit unit) {
  const std::string text = figure_text(value, unit);
  return unit == Unit::per_s ? text + " msg/s" : unit == Unit::us ? text + " us" : text;
}

Label label_of(Unit unit) {
  return unit == Unit::ns ? latency_label : unit == Unit::us ? us_label : count_label;
}

std::string value_of_axis(const AxisPoint& point) {
  if (point.axis == "payload") return size_label(point.value);
  if (point.axis != "rate") return format_rate(point.value);
  if (!point.share) return format_rate(point.value) + " msg/s";
  return fmt::format("{} msg/s ({:.3g} % of the capacity)", format_rate(point.value), 100 * *point.share);
}

Markup drawn_curve(const NamedCurve& one, const FigureRow& figure, const Scale& across, const Scale& up) {
  Markup markup;
  for (std::size_t i = 1; i < one.points.size(); ++i) {
    const CurvePoint &from = one.points[i - 1], &to = one.points[i];
    const bool sure = from.runner->ranked && to.runner->ranked;
    markup += stroke(series_of(*from.heat, *from.runner), across.at(from.at), up.at(from.value),
                     across.at(to.at), up.at(to.value), 2, sure ? "" : "5 4");
  }
  for (const CurvePoint& point : one.points) {
    const bool bound = point.runner->at_least && figure.unit == Unit::per_s;
    const std::string title =
        fmt::format("{}, {} {}: {}{}{}", one.name, point.heat->point->axis, value_of_axis(*point.heat->point),
                    bound ? "≥ " : "", figure_with_unit(point.value, figure.unit),
                    point.runner->ranked ? "" : " (not ranked: " + point.runner->reason + ")");
    markup += mark(series_of(*point.heat, *point.runner), across.at(point.at), up.at(point.value), 4.5, title,
                   point.value, !point.runner->ranked);
  }
  return markup;
}

std::string curve_file_name(const HeatCurve& curve, const FigureRow& figure) {
  return file_name_of(fmt::format("{}-over-{}", figure.name, curve.first.axis));
}

std::string caption_of(const HeatCurve& curve, const FigureRow& figure) {
  const std::string axis = curve.first.axis == "rate" ? "rate of messages" : curve.first.axis;
  std::string caption = fmt::format("{} over {}", figure.name, axis);
  caption.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(caption.front())));
  return caption;
}

}  // namespace

std::vector<HeatCurve> heat_curves(const Document& document) {
  std::vector<HeatCurve> curves;
  for (const Heat& heat : document.heats) {
    if (!heat.point) continue;
    auto known = std::ranges::find_if(
        curves, [&](const HeatCurve& curve) { return curve.first.curve == heat.point->curve; });
    if (known == curves.end()) known = curves.insert(curves.end(), HeatCurve{.first = *heat.point});
    known->heats.push_back(&heat);
  }
  return curves;
}

std::optional<Picture> curve_picture(const HeatCurve& curve, const FigureRow& figure) {
  const std::vector<NamedCurve> named = named_curves(curve, figure);
  std::vector<double> at, values;
  for (const NamedCurve& one : named)
    for (const CurvePoint& point : one.points) {
      at.push_back(point.at);
      values.push_back(point.value);
    }
  if (at.empty() || std::ranges::min(at) == std::ranges::max(at)) return std::nullopt;
  const double right = kWidth - kMargin - 12;
  const Scale::Kind kind = kind_for(values, figure.unit == Unit::ns);
  if (kind == Scale::Kind::linear) values.push_back(0);
  // A narrow range would be drawn as a steep curve: the axis spans a factor of three at least.
  const auto [least, most] = std::ranges::minmax(values);
  if (kind == Scale::Kind::logarithmic && most < 3 * least) {
    const double middle = std::sqrt(least * most);
    values.insert(values.end(), {middle / std::sqrt(3.0), middle * std::sqrt(3.0)});
  }
  const Scale across(kind_for(at), at, 0.04, kCurveLeft, right);
  const Scale up(kind, values, 0.06, kCurveBottom, kCurveTop);
  const bool more_is_better = figure.unit == Unit::per_s;
  Picture picture{.name = curve_file_name(curve, figure),
                  .caption = caption_of(curve, figure),
                  .how = fmt::format(
                      "{} is better{}. Hollow marks and dashed lines are of contestants that are not ranked "
                      "there; the text of the mark has the reason.",
                      more_is_better ? "Higher" : "Lower",
                      kind == Scale::Kind::logarithmic ? "; the vertical axis is logarithmic" : ""),
                  .height = kCurveBottom + 34 + kCurveLegend * static_cast<double>(named.size())};
  picture.content = horizontal_axis(across, kCurveTop, kCurveBottom, 5,
                                    curve.first.axis == "payload" ? size_label : count_label) +
                    vertical_axis(up, kCurveLeft, right, 5, label_of(figure.unit));
  double y = kCurveBottom + 40;
  for (const NamedCurve& one : named) {
    picture.content += drawn_curve(one, figure, across, up);
    const CurvePoint& last = one.points.back();
    picture.content += name_row(series_of(*last.heat, *last.runner), y, one.name, "");
    y += kCurveLegend;
  }
  return picture;
}

std::vector<Picture> curve_pictures(const HeatCurve& curve) {
  const bool rates = curve.heats.front()->by_latency();
  std::vector<Picture> pictures;
  const auto add = [&](std::string_view key) {
    if (std::optional<Picture> one = curve_picture(curve, figure_row(key)))
      pictures.push_back(std::move(*one));
  };
  add(rates ? "latency_ns.p50" : "throughput_per_s");
  add("latency_ns.p99");
  add("server_cpu_us_per_message");
  return pictures;
}

std::vector<Picture> heat_pictures(const Heat& heat, double precision) {
  std::vector<Picture> pictures;
  for (std::optional<Picture> one : {ratio_picture(heat, precision), cost_ratio_picture(heat, precision),
                                     latency_picture(heat), cpu_picture(heat)})
    if (one) pictures.push_back(std::move(*one));
  return pictures;
}

std::vector<Picture> all_pictures(const Document& document) {
  std::vector<Picture> all;
  const auto add = [&](std::vector<Picture> pictures, const std::string& prefix) {
    for (Picture& one : pictures) {
      one.name = prefix + one.name;
      all.push_back(std::move(one));
    }
  };
  std::size_t number = 0;
  for (const Heat& heat : document.heats) {
    ++number;
    add(heat_pictures(heat, document.precision),
        document.heats.size() == 1 ? "" : fmt::format("case{}-", number));
  }
  const std::vector<HeatCurve> curves = heat_curves(document);
  number = 0;
  for (const HeatCurve& curve : curves) {
    ++number;
    add(curve_pictures(curve), curves.size() == 1 ? "" : fmt::format("curve{}-", number));
  }
  return all;
}

}  // namespace joust::report::page
