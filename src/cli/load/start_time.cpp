// SPDX-License-Identifier: MIT
#include "cli/load/start_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <ctime>
#include <limits>
#include <thread>

#include "base/units.hpp"
#include "load/run.hpp"

namespace joust {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
constexpr Duration kLongestWait = std::chrono::minutes(10);  // for the signal, and ahead
constexpr Duration kLook = std::chrono::milliseconds(20);
std::atomic<StartTime*> started{nullptr};

// Reads 2026-01-31T12:00:00Z.
std::optional<std::time_t> utc_from(const std::string& text) {
  std::tm fields{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&fields);
}

}  // namespace

std::expected<Time, std::string> parse_start(const std::string& text) {
  Duration ahead{};
  if (text.starts_with('+')) {
    const auto time = parse_duration(text.substr(1));
    if (!time) return std::unexpected(time.error());
    ahead = *time;
  } else {
    const auto utc = utc_from(text);
    if (!utc)
      return std::unexpected(
          fmt::format("'{}' is no time such as 2026-01-31T12:00:00Z (UTC), or +5s from now on", text));
    ahead = std::chrono::system_clock::from_time_t(*utc) - std::chrono::system_clock::now();
  }
  if (ahead < Duration{}) return std::unexpected(fmt::format("{} is over", text));
  if (ahead > kLongestWait)
    return std::unexpected(fmt::format("{} is more than {} ahead", text, format_duration(kLongestWait)));
  return Clock::now() + ahead;
}

StartTime::StartTime(std::optional<Time> known)
    : begins_ns_(known ? Duration(known->time_since_epoch()).count() : kUnknown) {
  assert(started == nullptr);
  started = this;
}

StartTime::~StartTime() {
  started = nullptr;
}

void StartTime::pass(int value) noexcept {
  StartTime* const start = started;
  if (start == nullptr || value <= 0) return;
  start->begins_ns_ = Duration(time_of_signal(value, Clock::now()).time_since_epoch()).count();
}

// The signal need not reach this thread, so the wait looks again after a short while.
Time StartTime::wait(Stop& stop) {
  const Time deadline = Clock::now() + kLongestWait;
  for (;;) {
    const Time now = Clock::now();
    const Time begins = Time(Duration(begins_ns_.load()));
    late_ = begins_ns_ == kUnknown ? Duration{-1} : Duration(now - begins);
    if (now >= begins || stop.requested()) return now;
    if (now >= deadline) stop.request();
    std::this_thread::sleep_for(std::min<Duration>(kLook, begins - now));
  }
}

}  // namespace joust
