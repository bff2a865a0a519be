// SPDX-License-Identifier: MIT
#include "load/signalled_time.hpp"

#include <cstdint>

namespace joust {
namespace {

constexpr std::int64_t kPeriod_us = std::int64_t{1} << 31;

std::int64_t us_of(Time time) {
  return Duration(time.time_since_epoch()).count() / 1000;
}

}  // namespace

int signalled_time(Time time) {
  const std::int64_t value = us_of(time) % kPeriod_us;
  return static_cast<int>(value == 0 ? 1 : value);
}

Time time_of_signal(int value, Time now) {
  const std::int64_t now_us = us_of(now);
  std::int64_t time_us = now_us - now_us % kPeriod_us + value;
  if (time_us - now_us > kPeriod_us / 2) time_us -= kPeriod_us;
  if (now_us - time_us > kPeriod_us / 2) time_us += kPeriod_us;
  return Time(std::chrono::microseconds(time_us));
}

}  // namespace joust
