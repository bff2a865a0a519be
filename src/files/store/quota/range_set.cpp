// SPDX-License-Identifier: MIT
#include "files/store/quota/range_set.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

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

}  // namespace joust
