// SPDX-License-Identifier: MIT
#include "cli/file_tool/progress_meter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/terminal.hpp"
#include "base/units.hpp"
#include "cli/common/output.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

constexpr Duration kBarEvery = std::chrono::milliseconds(200);
constexpr Duration kLineEvery = std::chrono::seconds(1);
constexpr std::size_t kWide = 24, kNarrow = 10;  // columns of a bar
constexpr std::size_t kUsualColumns = 80;
constexpr double kLongestLeft_s = 100 * 3600;  // a longer time is no useful forecast

double seconds_of(Duration time) {
  return std::chrono::duration<double>(time).count();
}

// Formats the time left in whole seconds, rounded up; empty at the end.
std::string time_left(std::uint64_t bytes, double bytes_per_s) {
  if (bytes == 0 || bytes_per_s <= 0) return {};
  const double exact = std::ceil(static_cast<double>(bytes) / bytes_per_s);
  if (exact > kLongestLeft_s) return {};
  const auto seconds = static_cast<std::uint64_t>(exact);
  if (seconds < 60) return fmt::format("  {} s left", seconds);
  return fmt::format("  {}:{:02}:{:02} left", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// Returns the bytes of files that have arrived. Sent bytes may still be on their way.
std::uint64_t bytes_so_far(const transfer::Counts& counts) {
  const std::uint64_t lost = counts.lost, sent = counts.sent;
  const std::uint64_t moved = std::max(counts.moved.load(), sent - std::min(sent, lost));
  return std::min(counts.total.load(), counts.there + moved);
}

}  // namespace

std::string progress_line(std::uint64_t done, std::uint64_t total, double bytes_per_s, std::size_t columns) {
  const double part = report::part_of(done, total);
  const std::string percent = fmt::format("{:3.0f} %", part * 100);
  const std::string bytes = fmt::format("  {} of {}", format_data(static_cast<double>(done)),
                                        format_data(static_cast<double>(total)));
  const std::string rate = bytes_per_s > 0 ? "  " + format_speed(bytes_per_s) : "";
  const std::string left = time_left(total - done, bytes_per_s);
  const std::string wide = report::progress_bar(part, kWide) + " ";
  const std::string narrow = report::progress_bar(part, kNarrow) + " ";
  for (const std::string& line :
       {wide + percent + bytes + rate + left, narrow + percent + bytes + rate + left,
        narrow + percent + bytes + left, percent + bytes + left, percent + left})
    if (line.size() < columns) return line;
  return percent.substr(0, columns - 1);
}

ProgressMeter::ProgressMeter(Kind kind, const transfer::Counts& counts)
    : kind_(kind), counts_(counts), begun_(Clock::now()) {
  if (kind_ == Kind::none) return;
  const Duration every = kind_ == Kind::bar         ? kBarEvery
                         : kind_ == Kind::few_lines ? kFewLinesEvery
                                                    : kLineEvery;
  try {
    thread_.emplace(every, [this] { show(Clock::now(), false); });
  } catch (const std::system_error&) {
    // Without another thread the transfer continues without progress output.
  }
}

ProgressMeter::~ProgressMeter() {
  if (kind_ == Kind::none) return;
  thread_.reset();
  show(Clock::now(), true);
}

void ProgressMeter::show(Time now, bool last) {
  const std::uint64_t total = counts_.total, done = std::min(bytes_so_far(counts_), total);
  const double seconds = seconds_of(now - begun_);
  const double rate =
      seconds > 0 ? static_cast<double>(done - std::min(done, counts_.there.load())) / seconds : 0;
  if (kind_ == Kind::json) return show_json(done, total, seconds, rate);
  if (kind_ == Kind::bar && last) return redraw_line_of_stderr("");
  if (last || total == 0) return;  // nothing is known yet
  if (kind_ == Kind::bar)
    return redraw_line_of_stderr(progress_line(done, total, rate, columns_of(STDERR_FILENO, kUsualColumns)));
  const int percent = static_cast<int>(report::part_of(done, total) * 100);
  if (kind_ == Kind::few_lines || std::exchange(shown_percent_, percent) != percent)
    print_to_stderr(progress_line(done, total, rate, kUsualColumns) + "\n");
}

// Writes a JSON line. A failure to write is reported at the end of the program.
void ProgressMeter::show_json(std::uint64_t done, std::uint64_t total, double seconds, double rate) const {
  try_print_out(fmt::format(
      R"({{"event":"progress","bytes":{},"total_bytes":{},"files":{},"seconds":{:.3f},"mb_per_s":{:.3f},)"
      R"("seconds_left":{:.3f}}})"
      "\n",
      done, total, counts_.files.load(), seconds, rate / 1e6,
      rate > 0 ? static_cast<double>(total - done) / rate : 0));
}

}  // namespace joust
