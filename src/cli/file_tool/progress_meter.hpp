// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "base/watches.hpp"
#include "files/transfer/transfer.hpp"

namespace joust {

// Shows the progress of a transfer, on a thread of its own, until it is destroyed. On standard error: a bar
// that a terminal redraws. Where standard error does not obey control sequences: a line for each percent, at
// most one a second, or a line every 10 s. On standard output: a JSON line each second.
class ProgressMeter {
 public:
  enum class Kind : unsigned char { none, bar, lines, few_lines, json };

  ProgressMeter(Kind kind, const transfer::Counts& counts);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

 private:
  void show(Time now, bool last);
  void show_json(std::uint64_t done, std::uint64_t total, double seconds, double rate) const;

  const Kind kind_;
  const transfer::Counts& counts_;
  const Time begun_;
  int shown_percent_ = -1;  // by the last of the lines
  std::optional<Periodic> thread_;
};

// The time between two lines where standard error is no terminal.
inline constexpr Duration kFewLinesEvery = std::chrono::seconds(10);

// Returns "[#####.....]  52 %  1.04 GiB of 2.00 GiB  612 MB/s  2 s left", without the parts that do not fit.
// The line is narrower than the terminal: some terminals wrap as soon as the last column has a character.
std::string progress_line(std::uint64_t done, std::uint64_t total, double bytes_per_s, std::size_t columns);

}  // namespace joust
