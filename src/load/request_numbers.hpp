// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace joust {

// The numbers of the outstanding requests of a connection whose replies may be missing, repeated or in any
// order. Requests are given up in the order of their numbers. A place in this list is a place in Outstanding.
class RequestNumbers {
 public:
  // The number of lost requests that are stored. Later replies to older requests count as repeated.
  static constexpr std::size_t kLostKept = 1024;

  void push(std::uint64_t number) { numbers_.push_back(number); }  // greater than all earlier ones
  void clear() { numbers_.clear(); }

  std::optional<std::size_t> place_of(std::uint64_t number) const { return place_in(numbers_, number); }
  void remove(std::size_t place) { numbers_.erase(numbers_.begin() + static_cast<std::ptrdiff_t>(place)); }

  void lose_oldest() {
    lost_.push_back(numbers_.front());
    numbers_.pop_front();
    if (lost_.size() > kLostKept) lost_.pop_front();
  }
  // Returns whether the request was given up: true once for each.
  bool was_lost(std::uint64_t number) {
    const auto place = place_in(lost_, number);
    if (place) lost_.erase(lost_.begin() + static_cast<std::ptrdiff_t>(*place));
    return place.has_value();
  }

 private:
  static std::optional<std::size_t> place_in(const std::deque<std::uint64_t>& sorted, std::uint64_t number) {
    const auto found = std::ranges::lower_bound(sorted, number);
    if (found == sorted.end() || *found != number) return std::nullopt;
    return static_cast<std::size_t>(found - sorted.begin());
  }

  std::deque<std::uint64_t> numbers_, lost_;
};

}  // namespace joust
