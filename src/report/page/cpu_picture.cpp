// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "report/page/pictures.hpp"
#include "report/page/ratios.hpp"
#include "report/text.hpp"

namespace joust::report::page {
namespace {

constexpr double kCpuRow = 80, kBar = 15, kCpuTop = 6, kCpuBottom = 64;
constexpr std::size_t kCpuTicks = 5;
constexpr const char *kServerPaint = "#0072b2", *kClientPaint = "#d55e00";

// A part of the CPU time of a message, microseconds.
struct CpuPart {
  const char* name;
  const char* paint;
  bool light;  // drawn as a frame with a light ground
  double us;
};

// Returns the CPU time of a message on one side as the tables have it.
std::optional<double> total_of(const Contestant& contestant, bool server) {
  const Measured* const figure =
      server ? contestant.server_cpu_us() : contestant.figure("cpu_us_per_message.client");
  return figure == nullptr ? std::nullopt : std::optional(figure->value);
}

// Divides the time of a message as user and system time are divided over all trials.
void add_parts(std::vector<CpuPart>& parts, const Contestant& contestant, bool server) {
  const auto total = total_of(contestant, server);
  const std::optional<CpuTime>& cpu = server ? contestant.server_cpu : contestant.client_cpu;
  if (!total || !cpu) return;
  const double all = cpu->user_s + cpu->system_s;
  const double in_user = all > 0 ? *total * cpu->user_s / all : 0;
  const char* const paint = server ? kServerPaint : kClientPaint;
  parts.push_back({server ? "server user" : "client user", paint, false, in_user});
  parts.push_back({server ? "server system" : "client system", paint, true, *total - in_user});
}

std::vector<CpuPart> parts_of(const Contestant& contestant) {
  std::vector<CpuPart> parts;
  add_parts(parts, contestant, true);
  add_parts(parts, contestant, false);
  return parts;
}

double sum_of(const std::vector<CpuPart>& parts) {
  double sum = 0;
  for (const CpuPart& part : parts) sum += part.us;
  return sum;
}

Markup box(double x, double y, double width, double height, const CpuPart& part, const std::string& title) {
  return element("rect",
                 {{"x", x},
                  {"y", y},
                  {"width", width},
                  {"height", height},
                  {"fill", part.paint},
                  {"fill-opacity", part.light ? 0.3 : 1.0},
                  {"stroke", part.paint},
                  {"stroke-width", 1},
                  {"data-value", exact(part.us)}},
                 element("title", title));
}

std::string side_words(const std::vector<CpuPart>& parts, std::string_view side) {
  std::string text;
  double sum = 0;
  for (const CpuPart& part : parts) {
    if (!std::string_view(part.name).starts_with(side)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ",
                        std::string_view(part.name).substr(side.size() + 1), plain_number(part.us));
    sum += part.us;
  }
  return text.empty() ? text : fmt::format("{} {} = {}", side, plain_number(sum), text);
}

Markup cpu_row(const Case& load_case, const Contestant& contestant, const Scale& scale, double top) {
  const std::vector<CpuPart> parts = parts_of(contestant);
  Markup markup;
  for (const double tick : scale.ticks(kCpuTicks))
    markup += thin_line(scale.at(tick), top + 20, scale.at(tick), top + 38);
  markup += name_row(series_of(load_case, contestant), top + 14, shown_name(contestant),
                     fmt::format("{} us", plain_number(sum_of(parts))));
  double at = 0;
  for (const CpuPart& part : parts) {
    const double left = scale.at(at), right = scale.at(at + part.us);
    markup += box(left, top + 21, right - left, kBar, part,
                  fmt::format("{}: {} {} us", contestant.name, part.name, plain_number(part.us)));
    at += part.us;
  }
  double line = top + 52;
  for (const char* side : {"server", "client"})
    if (const std::string shown = side_words(parts, side); !shown.empty()) {
      markup += words({.x = kMargin, .y = line, .faint = true}, shown);
      line += 15;
    }
  return markup;
}

Markup legend_of_cpu(double y) {
  static constexpr CpuPart kParts[] = {{"server user", kServerPaint, false, 0},
                                       {"server system", kServerPaint, true, 0},
                                       {"client user", kClientPaint, false, 0},
                                       {"client system", kClientPaint, true, 0}};
  Markup legend;
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    const double x = kMargin + (i % 2 == 0 ? 0 : kWidth / 3), row = y + (i < 2 ? 0 : 18);
    legend += box(x, row - 10, 11, 11, kParts[i], kParts[i].name);
    legend += words({.x = x + 16, .y = row}, kParts[i].name);
  }
  return legend;
}

}  // namespace

std::optional<Picture> cpu_picture(const Case& load_case) {
  std::vector<const Contestant*> rows = load_case.rows();
  std::erase_if(rows, [](const Contestant* contestant) { return sum_of(parts_of(*contestant)) <= 0; });
  if (rows.empty()) return std::nullopt;
  std::vector<double> sums{0};
  for (const Contestant* contestant : rows) sums.push_back(sum_of(parts_of(*contestant)));
  const Scale scale(Scale::Kind::linear, sums, 0.02, kMargin, kWidth - kMargin);
  const double bottom = kCpuTop + kCpuRow * static_cast<double>(rows.size());
  Picture picture{.name = "cpu",
                  .caption = fmt::format("CPU time of a {}, both sides, us", load_case.unit()),
                  .how =
                      "Shorter is better. Light parts are time in the kernel. On loopback the sender of a "
                      "message does a part of the receiver's work.",
                  .height = bottom + kCpuBottom};
  picture.content = horizontal_axis(scale, bottom - 4, bottom, kCpuTicks, plain_label);
  for (std::size_t i = 0; i < rows.size(); ++i)
    picture.content += cpu_row(load_case, *rows[i], scale, kCpuTop + kCpuRow * static_cast<double>(i));
  picture.content += legend_of_cpu(bottom + 36);
  return picture;
}

}  // namespace joust::report::page
