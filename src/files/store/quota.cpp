// SPDX-License-Identifier: MIT
#include "files/store/quota.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace joust {

bool RangeSet::insert(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return false;
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.end() && next->first < end) return false;
  const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
  if (before != ranges_.end() && before->second > begin) return false;
  if (next != ranges_.end() && next->first == end) {
    end = next->second;
    ranges_.erase(next);
  }
  if (before != ranges_.end() && before->second == begin)
    before->second = end;
  else
    ranges_.emplace(begin, end);
  return true;
}

void RangeSet::erase(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto around = std::prev(ranges_.upper_bound(begin));
  const std::uint64_t last = around->second;
  assert(around->first <= begin && end <= last);
  if (end < last) ranges_.emplace(end, last);
  if (around->first == begin)
    ranges_.erase(around);
  else
    around->second = begin;
}

std::uint64_t RangeSet::end_of(std::uint64_t begin) const {
  const auto behind = ranges_.upper_bound(begin);
  return behind == ranges_.begin() ? begin : std::max(begin, std::prev(behind)->second);
}

std::uint64_t RangeSet::covered(std::uint64_t begin, std::uint64_t end) const {
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin()) --range;
  std::uint64_t sum = 0;
  for (; range != ranges_.end() && range->first < end; ++range)
    if (range->second > begin) sum += std::min(end, range->second) - std::max(begin, range->first);
  return sum;
}

void RangeSet::cover(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto range = ranges_.upper_bound(begin);
  if (range != ranges_.begin() && std::prev(range)->second >= begin) --range;
  while (range != ranges_.end() && range->first <= end) {
    begin = std::min(begin, range->first);
    end = std::max(end, range->second);
    range = ranges_.erase(range);
  }
  ranges_.emplace(begin, end);
}

void RangeSet::uncover(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  cover(begin, end);
  erase(begin, end);
}

namespace {

// The limit of separate pieces, which ranges leave when they are given back out of order.
constexpr std::size_t kMostPiecesOfQuota = 8192;

std::unexpected<FileRefusal> refuse(std::uint64_t wanted, const Quota& quota) {
  return std::unexpected(
      FileRefusal{FileError::no_space, fmt::format("{} bytes are wanted, and {} of the server's {} are left",
                                                   wanted, quota.left(), quota.limit())});
}

}  // namespace

// Half of the largest number, so that sums do not overflow.
Quota::Quota(std::uint64_t limit) : limit_(std::min<std::uint64_t>(limit, INT64_MAX / 2)) {}

bool Quota::take(std::uint64_t bytes) {
  if (bytes > INT64_MAX) return false;
  const auto more = static_cast<std::int64_t>(bytes), limit = static_cast<std::int64_t>(limit_);
  std::int64_t used = used_;
  while (used <= limit - more)
    if (used_.compare_exchange_weak(used, used + more)) return true;
  return false;
}

std::uint64_t Quota::left() const {
  const std::int64_t left = static_cast<std::int64_t>(limit_) - used_;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, left));
}

FileAnswer<std::unique_ptr<QuotaShare>> QuotaShare::begin(Quota& quota, std::uint64_t size,
                                                          unsigned entries) {
  const std::uint64_t bytes = entries * kEntryBytes;
  auto share = std::unique_ptr<QuotaShare>(new QuotaShare(quota, bytes));
  const std::uint64_t whole = std::min(size, UINT64_MAX - bytes) + bytes;
  if (quota.left() < whole || !share->grow(bytes)) return refuse(whole, quota);
  return share;
}

QuotaShare::~QuotaShare() {
  shrink(taken_);
}

bool QuotaShare::grow(std::uint64_t more) {
  if (!quota_.take(more)) return false;
  taken_ += more;
  return true;
}

void QuotaShare::shrink(std::uint64_t less) {
  taken_ -= less;
  quota_.give_back(less);
}

FileAnswer<void> QuotaShare::take(ByteRange part) {
  const std::uint64_t missing = part.size - ranges_.covered(part.offset, part.end());
  if (missing == 0) return {};
  if (ranges_.pieces() >= kMostPiecesOfQuota)
    return std::unexpected(FileRefusal{FileError::busy, "too many loose ranges"});
  if (!grow(missing)) return refuse(missing, quota_);
  ranges_.cover(part.offset, part.end());
  return {};
}

void QuotaShare::resume(ByteRange part) {
  shrink(taken_ - std::min(taken_, entries_ + ranges_.covered(part.offset, part.end())));
  ranges_ = {};
  ranges_.cover(part.offset, part.end());
}

void QuotaShare::give_back(ByteRange part) {
  const std::uint64_t bytes = ranges_.covered(part.offset, part.end());
  ranges_.uncover(part.offset, part.end());
  shrink(bytes);
}

void QuotaShare::keep(ReplacedBytes replaced) {
  shrink(entries_ - kEntryBytes);
  taken_ = 0;
  if (replaced) quota_.give_back(*replaced + kEntryBytes);
}

void KeptShares::keep(std::string_view name, std::unique_ptr<QuotaShare> share, std::uint64_t there,
                      PeerAddress from) {
  share->resume({0, there});
  std::string leaving;
  std::unique_ptr<QuotaShare> its_share;  // given back after its files are removed
  {
    const std::lock_guard lock(mutex_);
    take_now(name);
    ages_[from].emplace(next_, name);
    shares_.emplace(name, Kept{std::move(share), from, next_++});
    if (shares_.size() > most_) {
      leaving = next_to_leave();
      its_share = take_now(leaving);
    }
  }
  if (!leaving.empty()) remove_(leaving);
}

std::size_t KeptShares::count() const {
  const std::lock_guard lock(mutex_);
  return shares_.size();
}

bool KeptShares::has(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return shares_.contains(name);
}

std::unique_ptr<QuotaShare> KeptShares::take(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return take_now(name);
}

std::unique_ptr<QuotaShare> KeptShares::take_now(std::string_view name) {
  const auto found = shares_.find(name);
  if (found == shares_.end()) return nullptr;
  auto share = std::move(found->second.share);
  const auto ages = ages_.find(found->second.from);
  ages->second.erase(found->second.number);
  if (ages->second.empty()) ages_.erase(ages);
  shares_.erase(found);
  return share;
}

// Among addresses with as many names, the one with the oldest name gives way.
std::string KeptShares::next_to_leave() const {
  const auto gives_way_later = [](const auto& one, const auto& other) {
    const Ages &ages = one.second, &others = other.second;
    return std::pair(ages.size(), others.begin()->first) < std::pair(others.size(), ages.begin()->first);
  };
  return std::ranges::max_element(ages_, gives_way_later)->second.begin()->second;
}

}  // namespace joust
