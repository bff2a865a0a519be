// SPDX-License-Identifier: MIT
#include "cli/common/progress_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/signals_blocked.hpp"
#include "base/text.hpp"

namespace joust {
namespace {

constexpr Duration kBarEvery = std::chrono::milliseconds(200);
constexpr Duration kLineEvery = std::chrono::seconds(1);
constexpr std::size_t kBarWidth = 24;

double seconds_of(Duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::uint64_t bytes_so_far(const transfer::Counts& counts) {
  const std::uint64_t lost = counts.lost, sent = counts.sent;
  const std::uint64_t moved = std::max(counts.moved.load(), sent - std::min(sent, lost));
  return std::min(counts.total.load(), counts.there + moved);
}

std::string progress_line(std::uint64_t done, std::uint64_t total, double bytes_per_s) {
  const double part = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  std::string line = fmt::format(
      "[{}{}] {:3.0f} %  {} of {}", std::string(filled, '#'), std::string(kBarWidth - filled, '.'),
      part * 100, format_bytes(static_cast<double>(done)), format_bytes(static_cast<double>(total)));
  if (bytes_per_s <= 0) return line;
  const std::chrono::duration<double> left(static_cast<double>(total - done) / bytes_per_s);
  return line + fmt::format("  {:.0f} MB/s  {} left", bytes_per_s / 1e6,
                            format_duration(std::chrono::duration_cast<Duration>(left)));
}

ProgressMeter::ProgressMeter(Kind kind, const transfer::Counts& counts)
    : kind_(kind), counts_(counts), begun_(Clock::now()) {
  if (kind_ == Kind::none) return;
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

ProgressMeter::~ProgressMeter() {
  if (kind_ == Kind::none) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  thread_.join();
  show(Clock::now(), true);
}

void ProgressMeter::run() {
  std::unique_lock lock(mutex_);
  const Duration every = kind_ == Kind::bar ? kBarEvery : kLineEvery;
  while (!over_changed_.wait_for(lock, every, [this] { return over_; })) show(Clock::now(), false);
}

void ProgressMeter::show(Time now, bool last) {
  const std::uint64_t done = bytes_so_far(counts_), total = counts_.total;
  const double seconds = seconds_of(now - begun_);
  const double rate =
      seconds > 0 ? static_cast<double>(done - std::min(done, counts_.there.load())) / seconds : 0;
  if (kind_ == Kind::bar) {
    print_to_stderr(last ? "\r\033[K" : "\r\033[K" + progress_line(done, total, rate));
    return;
  }
  // A failure shows at the end of the program.
  std::fputs(fmt::format(R"({{"event":"progress","bytes":{},"total_bytes":{},"files":{},"seconds":{:.3f},)"
                         R"("mb_per_s":{:.3f},"seconds_left":{:.3f}}})"
                         "\n",
                         done, total, counts_.files.load(), seconds, rate / 1e6,
                         rate > 0 ? static_cast<double>(total - done) / rate : 0)
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

}  // namespace joust
