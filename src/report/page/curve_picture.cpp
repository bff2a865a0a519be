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
  const Case* load_case = nullptr;
  const Contestant* contestant = nullptr;
  double at = 0, value = 0;
};

// The points of one contestant, which is known by its name.
struct NamedCurve {
  std::string name{};
  std::vector<CurvePoint> points{};
};

std::vector<NamedCurve> named_curves(const CaseCurve& curve, const FigureRow& figure) {
  std::vector<NamedCurve> named;
  for (const Case* load_case : curve.cases)
    for (const Contestant& contestant : load_case->contestants) {
      const std::string_view key = figure.key, latency = "latency_ns.";
      const Measured* const value = key.starts_with(latency)
                                        ? contestant.percentile(std::string(key.substr(latency.size())))
                                        : contestant.figure(key);
      if (contestant.kind != Kind::contestant || value == nullptr) continue;
      auto known = std::ranges::find(named, contestant.name, &NamedCurve::name);
      if (known == named.end()) known = named.insert(named.end(), NamedCurve{contestant.name});
      known->points.push_back({load_case, &contestant, load_case->point->value, value->value});
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
    const bool sure = from.contestant->ranked && to.contestant->ranked;
    markup += stroke(series_of(*from.load_case, *from.contestant), across.at(from.at), up.at(from.value),
                     across.at(to.at), up.at(to.value), 2, sure ? "" : "5 4");
  }
  for (const CurvePoint& point : one.points) {
    const bool bound = point.contestant->at_least && figure.unit == Unit::per_s;
    const std::string title = fmt::format(
        "{}, {} {}: {}{}{}", one.name, point.load_case->point->axis, value_of_axis(*point.load_case->point),
        bound ? "≥ " : "", figure_with_unit(point.value, figure.unit),
        point.contestant->ranked ? "" : " (not ranked: " + point.contestant->reason + ")");
    markup += mark(series_of(*point.load_case, *point.contestant), across.at(point.at), up.at(point.value),
                   4.5, title, point.value, !point.contestant->ranked);
  }
  return markup;
}

std::string curve_file_name(const CaseCurve& curve, const FigureRow& figure) {
  return file_name_of(fmt::format("{}-over-{}", figure.name, curve.first.axis));
}

std::string caption_of(const CaseCurve& curve, const FigureRow& figure) {
  const std::string axis = curve.first.axis == "rate" ? "rate of messages" : curve.first.axis;
  std::string caption = fmt::format("{} over {}", figure.name, axis);
  caption.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(caption.front())));
  return caption;
}

}  // namespace

std::vector<CaseCurve> case_curves(const Document& document) {
  std::vector<CaseCurve> curves;
  for (const Case& load_case : document.cases) {
    if (!load_case.point) continue;
    auto known = std::ranges::find_if(
        curves, [&](const CaseCurve& curve) { return curve.first.curve == load_case.point->curve; });
    if (known == curves.end()) known = curves.insert(curves.end(), CaseCurve{.first = *load_case.point});
    known->cases.push_back(&load_case);
  }
  return curves;
}

std::optional<Picture> curve_picture(const CaseCurve& curve, const FigureRow& figure) {
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
    picture.content += name_row(series_of(*last.load_case, *last.contestant), y, one.name, "");
    y += kCurveLegend;
  }
  return picture;
}

std::vector<Picture> curve_pictures(const CaseCurve& curve) {
  const bool rates = curve.cases.front()->by_latency();
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

std::vector<Picture> case_pictures(const Case& load_case, double precision) {
  std::vector<Picture> pictures;
  for (std::optional<Picture> one :
       {ratio_picture(load_case, precision), cost_ratio_picture(load_case, precision),
        latency_picture(load_case), cpu_picture(load_case)})
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
  for (const Case& load_case : document.cases) {
    ++number;
    add(case_pictures(load_case, *document.race.scenario.precision),
        document.cases.size() == 1 ? "" : fmt::format("case{}-", number));
  }
  const std::vector<CaseCurve> curves = case_curves(document);
  number = 0;
  for (const CaseCurve& curve : curves) {
    ++number;
    add(curve_pictures(curve), curves.size() == 1 ? "" : fmt::format("curve{}-", number));
  }
  return all;
}

}  // namespace joust::report::page
