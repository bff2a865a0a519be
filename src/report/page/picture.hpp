// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/page/markup.hpp"

// The parts of pictures. Lengths are in units of the picture, whose width is kWidth; a page shows it as wide
// as it has room for. Lines and text take the colour of the text around them, so that a dark page has
// light ones; everything that stands for a contestant has a shape as well as a colour.
namespace joust::report::page {

// Places values between two coordinates, linearly or by their logarithms.
class Scale {
 public:
  enum class Kind { linear, logarithmic };

  // Covers all the values, and a part of the range beyond them at both ends; `margin` is that part. A
  // logarithmic scale covers the positive ones only. A range of no width is widened.
  Scale(Kind kind, const std::vector<double>& values, double margin, double from, double to);

  // Returns the coordinate; values outside of the range have that of its end.
  double at(double value) const;
  bool holds(double value) const { return value >= low_ && value <= high_; }
  // Returns round values in the range, about `wanted` of them and no more than twice as many.
  std::vector<double> ticks(std::size_t wanted) const;

 private:
  double place_of(double value) const;

  Kind kind_;
  double low_ = 1, high_ = 2;  // of the values
  double from_, to_;           // of the coordinates
};

inline constexpr double kWidth = 440, kMargin = 10, kFont = 13, kSmallFont = 12;

struct Picture {
  std::string name;     // of its file, without the ending: "latency"
  std::string caption;  // a line above it
  std::string how;      // how to read it
  double height = 0;
  Markup content{};
};

// Returns a picture as an element of a page.
Markup inline_svg(const Picture& picture);
// Returns a picture as a file of its own.
std::string svg_file(const Picture& picture);

enum class Anchor { start, middle, end };

struct Words {
  double x = 0, y = 0;
  Anchor anchor = Anchor::start;
  bool bold = false, faint = false;
  double size = kSmallFont;
};

Markup words(const Words& place, std::string_view shown);
// Cuts a name to a number of characters, with an ellipsis.
std::string shortened(std::string_view name, std::size_t characters);

// Returns a line of a grid.
Markup thin_line(double x1, double y1, double x2, double y2);

// A colour and a shape for the contestant of this number; those beyond the eighth are hollow.
std::string colour(std::size_t series);
// `value`: the number that the mark stands for, the attribute data-value; none in a legend.
Markup mark(std::size_t series, double x, double y, double radius, std::string_view title,
            std::optional<double> value, bool hollow = false);
// Returns a line in the contestant's colour; `dashes` may be empty.
Markup stroke(std::size_t series, double x1, double y1, double x2, double y2, double width,
              std::string_view dashes);
// Draws a line through these places; nothing for fewer than two.
Markup polyline(std::size_t series, const std::vector<std::pair<double, double>>& points, double width,
                std::string_view dashes);

// Returns a grid with a label at each tick of a horizontal scale, and of a vertical one.
using Label = std::string (*)(double value);
Markup horizontal_axis(const Scale& scale, double top, double bottom, std::size_t wanted, Label label);
Markup vertical_axis(const Scale& scale, double left, double right, std::size_t wanted, Label label);

// Returns a row with the mark of a contestant and its name; at the right a note.
Markup name_row(std::size_t series, double y, const std::string& name, const std::string& note);

std::string plain_label(double value);    // "0.95", "1e+06"
std::string latency_label(double value);  // of nanoseconds: "1.5 ms"
std::string count_label(double value);    // "64", "100k"

}  // namespace joust::report::page
