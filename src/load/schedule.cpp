// SPDX-License-Identifier: MIT
#include "load/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"

namespace joust {
namespace {

constexpr std::size_t kPlaces = 4096;  // positions at which a message may begin

}  // namespace

std::shared_ptr<const Pattern> Pattern::of(std::size_t size, Alphabet alphabet) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, Alphabet>, std::weak_ptr<const Pattern>> known;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const Pattern>& entry = known[{size, alphabet}];
  if (auto pattern = entry.lock()) return pattern;
  auto pattern = std::make_shared<const Pattern>(size, alphabet);
  entry = pattern;
  return pattern;
}

std::byte Pattern::letter(std::uint32_t random, Alphabet alphabet) {
  if (alphabet == Alphabet::any) return static_cast<std::byte>(random);
  if (alphabet == Alphabet::alphanumeric) {
    static constexpr std::string_view kLetters =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return static_cast<std::byte>(kLetters[random % kLetters.size()]);
  }
  auto character = static_cast<char>(' ' + random % ('~' - ' ' + 1));
  if (alphabet == Alphabet::upper && character >= 'a' && character <= 'z')
    character = static_cast<char>(character - 'a' + 'A');
  return static_cast<std::byte>(character);
}

Pattern::Pattern(std::size_t size, Alphabet alphabet) : size_(size), bytes_(size + kPlaces) {
  std::mt19937 random(
      20260101);  // the same for all alphabets and runs, so that `upper` is `printable` in upper case
  for (std::byte& byte : bytes_) byte = letter(static_cast<std::uint32_t>(random() >> 8), alphabet);
}

Bytes Pattern::message(std::uint64_t connection, std::uint64_t number) const {
  return Bytes(bytes_).subspan(mixed(connection * kMixStep + number) % kPlaces, size_);
}

Duration longest_gap(const LoadPlan& plan) {
  return std::chrono::ceil<Duration>(plan.mean_gap() *
                                     (plan.has_poisson_arrivals() ? kLongestPoissonGap : 1));
}

Schedule::Schedule(const LoadPlan& plan, std::uint64_t connection)
    : interval_ns_(plan.mean_gap().count()),
      burst_(plan.burst),
      place_ns_(interval_ns_ * static_cast<double>(connection % plan.of_all_hosts()) /
                static_cast<double>(plan.of_all_hosts())),
      poisson_(plan.has_poisson_arrivals()),
      together_(plan.phase == LoadPlan::Phase::together),
      random_(mixed(mixed(plan.seed) + connection + 1)) {
  restart();
}

void Schedule::restart() {
  next_ = Time::max();
  of_burst_ = 0;
  since_origin_ns_ = together_ ? 0 : poisson_ ? gap_ns() : place_ns_;
}

double Schedule::gap_ns() {
  if (!poisson_) return interval_ns_;
  constexpr double kUnit = 0x1p-53;  // step of the 53 bits that a double keeps
  const double uniform = static_cast<double>(mixed(random_ += kMixStep) >> 11) * kUnit;
  return -std::log1p(-uniform) * interval_ns_;
}

void Schedule::begin(Time now) {
  origin_ = has_begun() ? origin_ + (now - paused_) : now;
  next_ = origin_ + Duration(std::llround(since_origin_ns_));
}

void Schedule::advance() {
  if (++of_burst_ < burst_) return;
  of_burst_ = 0;
  since_origin_ns_ += gap_ns();
  next_ = origin_ + Duration(std::llround(since_origin_ns_));
}

void Schedule::move_back(Time earliest) {
  if (!has_begun() || next_ >= earliest) return;
  origin_ += earliest - next_;
  next_ = earliest;
}

std::uint64_t Schedule::due_before(Time end) const {
  if (next_ >= end) return 0;
  const auto left = static_cast<double>(Duration(end - next_).count());
  return static_cast<std::uint64_t>(std::ceil(left / interval_ns_)) * burst_ - of_burst_;
}

Turns::Number Turns::joined() {
  return number_of(word_.fetch_add(std::uint64_t{1} << kBits, std::memory_order_acq_rel));
}

bool Turns::begin(bool may_be_deserted) {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  std::uint64_t next = 0;
  do {
    const std::uint64_t alive = alive_of(word);
    if (remaining_of(word) > 0 || (alive == 0 && !may_be_deserted)) return false;
    const std::uint64_t number = (number_of(word) + std::uint64_t{1}) << (2 * kBits);
    next = number | alive << kBits | (alive == 0 ? kDeserted : alive);
  } while (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel));
  return true;
}

bool Turns::end_deserted() {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  do {
    if (remaining_of(word) != kDeserted) return false;
  } while (!word_.compare_exchange_weak(word, word & ~kMask, std::memory_order_acq_rel));
  return true;
}

bool Turns::rested() {
  return remaining_of(word_.fetch_sub(1, std::memory_order_acq_rel)) == 1;
}

bool Turns::gone(Number entered, bool at_rest) {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  std::uint64_t next = 0;
  bool awaited = false;
  do {
    awaited = !at_rest || number_of(word) != entered;
    next = word - (std::uint64_t{1} << kBits) - (awaited ? 1 : 0);
  } while (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel));
  return awaited && remaining_of(word) == 1;
}

}  // namespace joust
