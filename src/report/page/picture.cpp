// SPDX-License-Identifier: MIT
#include "report/page/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text.hpp"

namespace joust::report::page {
namespace {

// Returns the least of 1, 2 and 5 times a power of ten that divides the range into at most `most` steps.
double round_step(double range, double most) {
  const double rough = range / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::vector<double> even_ticks(double low, double high, std::size_t wanted) {
  const double step = round_step(high - low, static_cast<double>(wanted));
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) && ticks.size() <= 2 * wanted;
       ++k)
    ticks.push_back(k == 0 ? 0 : k * step);  // and not -0
  return ticks;
}

// Returns 1, 2 and 5 times the powers of ten in the range, or only every so many powers if these are too
// many.
std::vector<double> power_ticks(double low, double high, std::size_t wanted) {
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const auto powers = static_cast<std::size_t>(last - first + 1);
  const int stride = static_cast<int>((powers + wanted - 1) / wanted);
  std::vector<double> ticks;
  for (int power = first; power <= last; power += stride)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, power);
      if ((factor == 1 || powers <= wanted / 2 + 1) && tick >= low && tick <= high) ticks.push_back(tick);
    }
  return ticks;
}

}  // namespace

Scale::Scale(Kind kind, const std::vector<double>& values, double margin, double from, double to)
    : kind_(kind), from_(from), to_(to) {
  bool any = false;
  for (const double value : values) {
    if (kind == Kind::logarithmic && value <= 0) continue;
    low_ = any ? std::min(low_, value) : value;
    high_ = any ? std::max(high_, value) : value;
    any = true;
  }
  if (!any) high_ = low_ + 1;
  if (kind == Kind::logarithmic) {
    if (high_ < low_ * 1.001) {
      low_ /= 1.01;
      high_ *= 1.01;
    }
    const double more = std::pow(high_ / low_, margin);
    low_ /= more;
    high_ *= more;
  } else {
    if (high_ <= low_) high_ = low_ > 0 ? low_ * 1.1 : 1;
    const double more = (high_ - low_) * margin;
    low_ = low_ >= 0 ? std::max(0.0, low_ - more) : low_ - more;
    high_ += more;
  }
}

double Scale::place_of(double value) const {
  return kind_ == Kind::logarithmic ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
}

double Scale::at(double value) const {
  return from_ + (to_ - from_) * place_of(std::clamp(value, low_, high_));
}

std::vector<double> Scale::ticks(std::size_t wanted) const {
  if (kind_ == Kind::linear || high_ < 10 * low_) return even_ticks(low_, high_, wanted);
  return power_ticks(low_, high_, wanted);
}
namespace {

// Told apart also by those who see red and green alike, and at least 3:1 against white and against #15181c.
constexpr std::array kColours{"#0072b2", "#d55e00", "#008f68", "#b07d12",
                              "#c46a9d", "#8a63d2", "#808080", "#a0522d"};
constexpr const char* kFonts = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";

const char* anchor_name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string points(double x, double y, double radius, const std::vector<std::pair<double, double>>& corners) {
  std::string text;
  for (const auto& [dx, dy] : corners)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", coordinate(x + dx * radius),
                        coordinate(y + dy * radius));
  return text;
}

// The corners of the shapes, for a radius of 1; the first shape is a circle.
std::vector<std::pair<double, double>> corners_of(std::size_t shape) {
  switch (shape) {
    case 1:  // a square
      return {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
    case 2:  // triangles
      return {{0, -1.2}, {1.1, 0.9}, {-1.1, 0.9}};
    case 3:  // a diamond
      return {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}};
    case 4:
      return {{0, 1.2}, {1.1, -0.9}, {-1.1, -0.9}};
    case 5:  // a cross
      return {{-0.4, -1.2}, {0.4, -1.2}, {0.4, -0.4}, {1.2, -0.4}, {1.2, 0.4},   {0.4, 0.4},
              {0.4, 1.2},   {-0.4, 1.2}, {-0.4, 0.4}, {-1.2, 0.4}, {-1.2, -0.4}, {-0.4, -0.4}};
    case 6:  // an arrow to the right
      return {{-0.9, -1.1}, {1.2, 0}, {-0.9, 1.1}};
    default:  // an hour glass
      return {{-1, -1.1}, {1, -1.1}, {-1, 1.1}, {1, 1.1}};
  }
}

Markup hover(std::string_view shown) {
  return element("title", shown);
}

}  // namespace

Markup inline_svg(const Picture& picture) {
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {} {}", coordinate(kWidth), coordinate(picture.height))},
                  {"width", "100%"},
                  {"role", "img"},
                  {"aria-label", picture.caption},
                  {"font-family", kFonts}},
                 picture.content);
}

std::string svg_file(const Picture& picture) {
  const Markup paper = element("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#ffffff"}});
  const Markup svg =
      element("svg",
              {{"xmlns", "http://www.w3.org/2000/svg"},
               {"viewBox", fmt::format("0 0 {} {}", coordinate(kWidth), coordinate(picture.height))},
               {"width", kWidth},
               {"height", picture.height},
               {"color", "#1a1a1a"},
               {"font-family", kFonts}},
              element("title", picture.caption) + element("desc", picture.how) + paper + picture.content);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg.str() + "\n";
}

Markup words(const Words& place, std::string_view shown) {
  return element("text",
                 {{"x", place.x},
                  {"y", place.y},
                  {"text-anchor", anchor_name(place.anchor)},
                  {"font-size", place.size},
                  {"font-weight", place.bold ? "bold" : "normal"},
                  {"fill", "currentColor"},
                  {"fill-opacity", place.faint ? 0.75 : 1.0}},
                 text(shown));
}

std::string shortened(std::string_view name, std::size_t characters) {
  std::string shown = printable(name, "\n\\");
  if (width_of(shown) <= characters) return std::string(name);
  std::string cut;
  for (std::size_t taken = 0; taken + 1 < characters && cut.size() < shown.size(); ++taken) {
    const std::string_view rest = std::string_view(shown).substr(cut.size());
    cut += rest.substr(0, std::max<std::size_t>(1, utf8_sequence(rest)));
  }
  return cut + "…";
}

Markup thin_line(double x1, double y1, double x2, double y2) {
  return element("line", {{"x1", x1},
                          {"y1", y1},
                          {"x2", x2},
                          {"y2", y2},
                          {"stroke", "currentColor"},
                          {"stroke-opacity", 0.22},
                          {"stroke-width", 1}});
}

std::string colour(std::size_t series) {
  return kColours[series % kColours.size()];
}

Markup mark(std::size_t series, double x, double y, double radius, std::string_view title,
            std::optional<double> value, bool hollow) {
  hollow |= series >= kColours.size();
  const std::string paint = colour(series), fill = hollow ? "none" : paint;
  const std::string data = value ? fmt::format("{}", *value) : "none";
  const std::size_t shape = series % kColours.size();
  const double width = hollow ? 1.6 : 0.6;
  if (shape == 0)
    return element("circle",
                   {{"cx", x},
                    {"cy", y},
                    {"r", radius},
                    {"fill", fill},
                    {"stroke", paint},
                    {"stroke-width", width},
                    {"data-value", data}},
                   hover(title));
  return element("polygon",
                 {{"points", points(x, y, radius, corners_of(shape))},
                  {"fill", fill},
                  {"stroke", paint},
                  {"stroke-width", width},
                  {"data-value", data}},
                 hover(title));
}

Markup stroke(std::size_t series, double x1, double y1, double x2, double y2, double width,
              std::string_view dashes) {
  return element("line", {{"x1", x1},
                          {"y1", y1},
                          {"x2", x2},
                          {"y2", y2},
                          {"stroke", colour(series)},
                          {"stroke-width", width},
                          {"stroke-dasharray", dashes.empty() ? "none" : dashes}});
}

Markup polyline(std::size_t series, const std::vector<std::pair<double, double>>& points, double width,
                std::string_view dashes) {
  if (points.size() < 2) return {};
  std::string places;
  for (const auto& [x, y] : points) places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ", x, y);
  return element("polyline", {{"points", places},
                              {"fill", "none"},
                              {"stroke", colour(series)},
                              {"stroke-width", width},
                              {"stroke-dasharray", dashes.empty() ? "none" : dashes}});
}

Markup horizontal_axis(const Scale& scale, double top, double bottom, std::size_t wanted, Label label) {
  Markup axis;
  for (const double tick : scale.ticks(wanted)) {
    const double x = scale.at(tick);
    axis += thin_line(x, top, x, bottom);
    axis += words({.x = x, .y = bottom + 15, .anchor = Anchor::middle, .faint = true}, label(tick));
  }
  return axis;
}

Markup vertical_axis(const Scale& scale, double left, double right, std::size_t wanted, Label label) {
  Markup axis;
  for (const double tick : scale.ticks(wanted)) {
    const double y = scale.at(tick);
    axis += thin_line(left, y, right, y);
    axis += words({.x = left - 6, .y = y + 4, .anchor = Anchor::end, .faint = true}, label(tick));
  }
  return axis;
}

Markup name_row(std::size_t series, double y, const std::string& name, const std::string& note) {
  const std::size_t room = 55 - std::min<std::size_t>(36, width_of(note));
  return mark(series, kMargin + 5, y - 4, 4.5, name, std::nullopt) +
         words({.x = kMargin + 16, .y = y, .size = kFont}, shortened(name, room)) +
         words({.x = kWidth - kMargin, .y = y, .anchor = Anchor::end, .size = kFont}, note);
}

std::string plain_label(double value) {
  return fmt::format("{:.6g}", value);
}

std::string latency_label(double value) {
  if (value < 1e3) return fmt::format("{:.4g} ns", value);
  if (value < 1e6) return fmt::format("{:.4g} us", value / 1e3);
  if (value < 1e9) return fmt::format("{:.4g} ms", value / 1e6);
  return fmt::format("{:.4g} s", value / 1e9);
}

std::string count_label(double value) {
  if (value < 1e4) return fmt::format("{:.5g}", value);
  if (value < 1e6) return fmt::format("{:.4g}k", value / 1e3);
  return value < 1e9 ? fmt::format("{:.4g}M", value / 1e6) : fmt::format("{:.4g}G", value / 1e9);
}

}  // namespace joust::report::page
