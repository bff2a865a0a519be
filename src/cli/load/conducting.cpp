// SPDX-License-Identifier: MIT
#include "cli/load/conducting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <thread>

#include "base/units.hpp"
#include "cli/common/output.hpp"
#include "load/run.hpp"

namespace joust {
namespace {

std::atomic<TurnTaking*> conducted{nullptr};

}  // namespace

TurnTaking::TurnTaking(LoadRun& run, Duration ramp) : run_(run), ramp_(ramp) {
  assert(conducted == nullptr);
  conducted = this;
}

TurnTaking::~TurnTaking() {
  conducted = nullptr;
}

void TurnTaking::begin(int value) noexcept {
  TurnTaking* const taking = conducted;
  if (taking == nullptr || value == 0 || taking->run_.turn_under_way()) return;
  const std::int64_t size = std::abs(std::int64_t{value});
  taking->before_ = own_times();
  taking->began_ = Clock::now();
  if (taking->run_.plan().counted_turns)
    return taking->run_.begin_counted_turn(taking->began_, static_cast<std::uint64_t>(size), value > 0);
  const Duration length = std::chrono::microseconds(size);
  taking->run_.begin_turn(taking->began_, length,
                          value > 0 ? std::optional(taking->ramp_of(length)) : std::nullopt);
}

Duration TurnTaking::ramp_of(Duration length) const {
  const Duration longest = length / kRampShare;
  return ramp_ > Duration{} ? std::min(ramp_, longest) : longest;
}

void TurnTaking::end() {
  const Time now = Clock::now();
  used_ = used_ + (own_times() - before_);
  used_over_ += now - began_;
  const Recorder::Counts counts = run_.recorder().counts();
  const Recorder::Replies replies = run_.recorder().replies_since(began_);
  const auto ns = [](Time time) { return time.time_since_epoch() / Duration(1); };
  const std::string line = fmt::format(
      R"({{"event":"turn","turn":{},"began_ns":{},"from_ns":{},"last_ns":{},"ended_ns":{},)"
      R"("verified":{},"beside":{},"failed":{},"latency_sum_ns":{}}})"
      "\n",
      run_.turn(), ns(began_), ns(replies.last_of_ramp.value_or(began_)), ns(replies.last.value_or(began_)),
      ns(now), counts.verified, counts.beside, counts.failed, counts.latency_sum_ns);
  try_print_out(line);
}

namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
constexpr Duration kLongestWait = std::chrono::minutes(10);  // for the signal, and ahead
constexpr Duration kLook = std::chrono::milliseconds(20);
std::atomic<StartTime*> awaited_start{nullptr};

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
  assert(awaited_start == nullptr);
  awaited_start = this;
}

StartTime::~StartTime() {
  awaited_start = nullptr;
}

void StartTime::pass(int value) noexcept {
  StartTime* const start = awaited_start;
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
