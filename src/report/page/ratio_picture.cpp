// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "race/figures/wording.hpp"
#include "report/page/pictures.hpp"
#include "report/page/ratios.hpp"

namespace joust::report::page {
namespace {

constexpr double kRowHeight = 54, kTop = 4, kBottom = 42;
constexpr std::size_t kRatioTicks = 5;

// The words of a picture of ratios.
struct RatioWords {
  std::string name{}, caption{}, how{};
  std::string below{}, above{};  // of a ratio below and above 1
};

// One line of the picture.
struct RatioRow {
  const Contestant* contestant = nullptr;
  std::vector<RoundRatio> dots{};
};

std::vector<RatioRow> rows_of_ratios(const Case& load_case, RatioOf of) {
  std::vector<RatioRow> rows;
  const auto add = [&](const Contestant& contestant) {
    if (contestant.name != load_case.reference && ratio_of(load_case, contestant, of) != nullptr)
      rows.push_back({&contestant, round_ratios(load_case, contestant, of)});
  };
  for (const Contestant* contestant : load_case.rows()) add(*contestant);
  for (const Contestant& contestant : load_case.contestants)
    if (contestant.kind == Kind::again) add(contestant);
  return rows;
}

Scale scale_of_ratios(const Case& load_case, const std::vector<RatioRow>& rows, RatioOf of) {
  std::vector<double> values{1};
  for (const RatioRow& row : rows) {
    const Measured& ratio = *ratio_of(load_case, *row.contestant, of);
    for (const RoundRatio& dot : row.dots) values.push_back(dot.ratio);
    if (is_of_two_bounds(load_case, *row.contestant, of)) continue;
    values.push_back(ratio.value);
    if (has_interval(ratio)) values.insert(values.end(), {*ratio.low, *ratio.high});
  }
  return {Scale::Kind::logarithmic, values, 0.06, kMargin + 8, kWidth - kMargin - 8};
}

// Draws the ground of a row: the grid, the band within which contestants are equal, and the line of the
// reference. They leave the words above them free.
Markup ground_of_ratios(const Scale& scale, double top, double precision) {
  const double from = top + 20, to = top + kRowHeight;
  Markup ground;
  const double left = scale.at(1 / (1 + precision)), right = scale.at(1 + precision);
  if (precision > 0 && right > left)
    ground += element("rect",
                      {{"x", left},
                       {"y", from},
                       {"width", right - left},
                       {"height", to - from},
                       {"fill", "currentColor"},
                       {"fill-opacity", 0.08}},
                      element("title", fmt::format("equal within {}", race::percent(precision, 1))));
  for (const double tick : scale.ticks(kRatioTicks))
    ground += thin_line(scale.at(tick), from, scale.at(tick), to);
  return ground + element("line", {{"x1", scale.at(1)},
                                   {"y1", from},
                                   {"x2", scale.at(1)},
                                   {"y2", to},
                                   {"stroke", "currentColor"},
                                   {"stroke-width", 1.5}});
}

Markup interval_of(const Scale& scale, const Measured& ratio, std::size_t series, double y) {
  if (!has_interval(ratio)) return {};
  const double left = scale.at(*ratio.low), right = scale.at(*ratio.high);
  return stroke(series, left, y, right, y, 3, "") + stroke(series, left, y - 5, left, y + 5, 2, "") +
         stroke(series, right, y - 5, right, y + 5, 2, "");
}

Markup row_of_ratios(const Case& load_case, const RatioRow& row, RatioOf of, const Scale& scale, double top) {
  const Measured& ratio = *ratio_of(load_case, *row.contestant, of);
  const std::size_t series = series_of(load_case, *row.contestant);
  const std::string note = ratio_text(load_case, *row.contestant, of);
  Markup markup = name_row(series, top + 15, shown_name(*row.contestant), note);
  double step = 0;
  for (const RoundRatio& dot : row.dots) {
    const std::string title =
        fmt::format("{}, round {}: {}", row.contestant->name, dot.round, race::ratio_words(dot.ratio, 4));
    markup += mark(series, scale.at(dot.ratio), top + 26 + step, 2.6, title, dot.ratio, true);
    step = step < 7 ? step + 4 : 0;  // so that dots beside each other are seen
  }
  if (is_of_two_bounds(load_case, *row.contestant, of)) return markup;
  markup += interval_of(scale, ratio, series, top + 45);
  return markup +
         mark(series, scale.at(ratio.value), top + 45, 5, row.contestant->name + ": " + note, ratio.value);
}

std::optional<Picture> picture_of_ratios(const Case& load_case, RatioOf of, double precision,
                                         RatioWords said) {
  const std::vector<RatioRow> rows = rows_of_ratios(load_case, of);
  if (rows.empty()) return std::nullopt;
  const Scale scale = scale_of_ratios(load_case, rows, of);
  const double bottom = kTop + kRowHeight * static_cast<double>(rows.size()) + 6;
  Picture picture{.name = std::move(said.name),
                  .caption = std::move(said.caption),
                  .how = std::move(said.how),
                  .height = bottom + kBottom};
  picture.content = horizontal_axis(scale, bottom - 4, bottom, kRatioTicks, plain_label);
  double top = kTop;
  for (const RatioRow& row : rows) {
    picture.content +=
        ground_of_ratios(scale, top, precision) + row_of_ratios(load_case, row, of, scale, top);
    top += kRowHeight;
  }
  picture.content += words({.x = kMargin, .y = bottom + 34, .faint = true}, "← " + said.below);
  picture.content += words({.x = kWidth - kMargin, .y = bottom + 34, .anchor = Anchor::end, .faint = true},
                           said.above + " →");
  return picture;
}

std::string how_of(const Case& load_case, double precision, std::string_view better) {
  const bool twice =
      std::ranges::find(load_case.contestants, Kind::again, &Contestant::kind) != load_case.contestants.end();
  std::string how = fmt::format(
      "1 is {}; {} is better. Hollow marks are generations, the bar is the interval of the ratio.",
      load_case.reference, better);
  if (precision > 0)
    how += fmt::format(" Grey: equal within {}.", race::percent(precision, precision < 0.01 ? 1 : 0));
  return how + (twice ? " \"(again)\" is the reference against itself." : "");
}

}  // namespace

std::optional<Picture> ratio_picture(const Case& load_case, double precision) {
  if (load_case.by_latency())
    return picture_of_ratios(
        load_case, RatioOf::ranking, precision,
        {.name = "latency-ratio",
         .caption = fmt::format("Latency ({}), ratio to {}", load_case.ranked_by, load_case.reference),
         .how = how_of(load_case, precision, "to the left"),
         .below = "shorter",
         .above = "longer"});
  return picture_of_ratios(load_case, RatioOf::ranking, precision,
                           {.name = "throughput-ratio",
                            .caption = fmt::format("Throughput, ratio to {}", load_case.reference),
                            .how = how_of(load_case, precision, "to the right"),
                            .below = "slower",
                            .above = "faster"});
}

std::optional<Picture> cost_ratio_picture(const Case& load_case, double precision) {
  const char* const of =
      load_case.moves_files() ? "CPU time of a file, both sides" : "Server CPU time of a message";
  return picture_of_ratios(load_case, RatioOf::cost, precision,
                           {.name = "cost-ratio",
                            .caption = fmt::format("{}, ratio to {}", of, load_case.reference),
                            .how = how_of(load_case, precision, "to the left"),
                            .below = "cheaper",
                            .above = "more expensive"});
}

}  // namespace joust::report::page
