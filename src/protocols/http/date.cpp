// SPDX-License-Identifier: MIT
#include "protocols/http/date.hpp"

#include <fmt/compile.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <type_traits>

namespace joust::http {
namespace {

using std::chrono::days;
using std::chrono::seconds;

constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::int64_t kLastSecond = 253'402'300'799;  // the end of the year 9999

// Reads a date from left to right. After the first mismatch the whole date counts as wrong.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : left_(text) {}

  void skip(std::string_view expected) {
    if (left_.starts_with(expected))
      left_.remove_prefix(expected.size());
    else
      is_wrong_ = true;
  }
  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (left_.empty() || left_.front() < '0' || left_.front() > '9') return fail();
      value = value * 10 + (left_.front() - '0');
      left_.remove_prefix(1);
    }
    return value;
  }
  // Returns the index of the word that comes next.
  int one_of(std::span<const std::string_view> words) {
    const auto found = std::ranges::find_if(words, [&](auto word) { return left_.starts_with(word); });
    if (found == words.end()) return fail();
    left_.remove_prefix(found->size());
    return static_cast<int>(found - words.begin());
  }
  bool next_is(char c) const { return left_.starts_with(c); }
  bool is_right() const { return !is_wrong_ && left_.empty(); }

 private:
  int fail() {
    is_wrong_ = true;
    return 0;
  }

  std::string_view left_;
  bool is_wrong_ = false;
};

struct DateFields {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

void read_time(DateReader& reader, DateFields& fields) {
  fields.hour = reader.number(2);
  reader.skip(":");
  fields.minute = reader.number(2);
  reader.skip(":");
  fields.second = reader.number(2);
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
bool read_usual(std::string_view text, DateFields& fields) {
  DateReader reader(text);
  reader.one_of(kDays);
  reader.skip(", ");
  fields.day = reader.number(2);
  reader.skip(" ");
  fields.month = reader.one_of(kMonths);
  reader.skip(" ");
  fields.year = reader.number(4);
  reader.skip(" ");
  read_time(reader, fields);
  reader.skip(" GMT");
  return reader.is_right();
}

// "Sunday, 06-Nov-94 08:49:37 GMT"
bool read_rfc850(std::string_view text, int this_year, DateFields& fields) {
  DateReader reader(text);
  reader.one_of(kLongDays);
  reader.skip(", ");
  fields.day = reader.number(2);
  reader.skip("-");
  fields.month = reader.one_of(kMonths);
  reader.skip("-");
  fields.year = this_year / 100 * 100 + reader.number(2);
  if (fields.year > this_year + 50) fields.year -= 100;
  reader.skip(" ");
  read_time(reader, fields);
  reader.skip(" GMT");
  return reader.is_right();
}

// "Sun Nov  6 08:49:37 1994"
bool read_asctime(std::string_view text, DateFields& fields) {
  DateReader reader(text);
  reader.one_of(kDays);
  reader.skip(" ");
  fields.month = reader.one_of(kMonths);
  reader.skip(" ");
  const bool one_digit = reader.next_is(' ');
  if (one_digit) reader.skip(" ");
  fields.day = reader.number(one_digit ? 1 : 2);
  reader.skip(" ");
  read_time(reader, fields);
  reader.skip(" ");
  fields.year = reader.number(4);
  return reader.is_right();
}

std::chrono::year_month_day day_of(std::int64_t all_seconds) {
  return std::chrono::floor<days>(std::chrono::sys_seconds(seconds(all_seconds)));
}

// The last date that a thread was asked for.
struct Kept {
  std::uint64_t owner = 0;
  Time since{}, until{};
  std::int64_t seconds = 0;
  std::array<char, kDateSize> text{};
};
static_assert(std::is_trivially_destructible_v<Kept>);
constinit thread_local Kept kept;

std::atomic<std::uint64_t> clocks{0};

}  // namespace

std::string date_text(std::int64_t all_seconds) {
  const std::int64_t counted = std::clamp<std::int64_t>(all_seconds, 0, kLastSecond);
  const auto date = day_of(counted);
  const auto weekday = std::chrono::weekday(std::chrono::sys_days(date)).c_encoding();
  const std::int64_t of_day = counted % 86'400;
  return fmt::format(FMT_COMPILE("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT"), kDays[weekday],
                     static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), of_day / 3600, of_day / 60 % 60, of_day % 60);
}

std::string short_date_text(std::int64_t all_seconds) {
  const std::int64_t counted = std::clamp<std::int64_t>(all_seconds, 0, kLastSecond);
  const auto date = day_of(counted);
  const std::int64_t of_day = counted % 86'400;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), of_day / 3600,
                     of_day / 60 % 60);
}

std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now_s) {
  DateFields fields;
  const int this_year = static_cast<int>(day_of(now_s).year());
  if (!read_usual(text, fields) && !read_rfc850(text, this_year, fields) && !read_asctime(text, fields))
    return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(fields.year),
                                         std::chrono::month(static_cast<unsigned>(fields.month + 1)),
                                         std::chrono::day(static_cast<unsigned>(fields.day)));
  // 60 is a leap second, which the clocks used here do not count.
  if (!date.ok() || fields.hour > 23 || fields.minute > 59 || fields.second > 60) return std::nullopt;
  const std::int64_t day = std::chrono::sys_days(date).time_since_epoch().count();
  return day * 86'400 + fields.hour * 3600 + fields.minute * 60 + fields.second;
}

DateClock::DateClock(WallClock clock) : clock_(clock), number_(++clocks) {}

DateClock::Date DateClock::at(Time now) const {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (kept.owner != number_ || now >= kept.until || now < kept.since) {
    const std::int64_t wall = clock_();
    kept.owner = number_;
    kept.seconds = wall / kSecond;
    kept.since = now;
    kept.until = now + Duration(kSecond - wall % kSecond);
    std::ranges::copy(date_text(kept.seconds), kept.text.begin());
  }
  return {kept.seconds, {kept.text.data(), kept.text.size()}};
}

}  // namespace joust::http
