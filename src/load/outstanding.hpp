// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "joust/time.hpp"

namespace joust {

// The times of outstanding requests, oldest first. The oldest is stored in the object itself,
// because most loads have one request on each connection.
class InFlight {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Time oldest() const { return oldest_; }  // not empty

  // Returns the number of requests whose time is not before `earliest`.
  std::size_t since(Time earliest) const {
    if (size_ == 0) return 0;
    const auto waiting = behind_.begin() + static_cast<std::ptrdiff_t>(popped_);
    const auto later = std::count_if(waiting, behind_.end(), [=](Time time) { return time >= earliest; });
    return static_cast<std::size_t>(later) + (oldest_ >= earliest ? 1 : 0);
  }

  void push(Time time) {
    if (size_++ == 0)
      oldest_ = time;
    else
      behind_.push_back(time);
  }
  void pop() {
    if (--size_ == 0) return;
    oldest_ = behind_[popped_++];
    if (2 * popped_ < behind_.size()) return;
    behind_.erase(behind_.begin(), behind_.begin() + static_cast<std::ptrdiff_t>(popped_));
    popped_ = 0;
  }
  // Removes the request at `place`, where 0 is the oldest.
  Time take(std::size_t place) {
    const Time oldest = oldest_;
    if (place == 0) {
      pop();
      return oldest;
    }
    --size_;
    const auto taken = behind_.begin() + static_cast<std::ptrdiff_t>(popped_ + place - 1);
    const Time time = *taken;
    behind_.erase(taken);
    return time;
  }
  void set_all(Time time) {
    oldest_ = time;
    std::ranges::fill(behind_, time);
  }
  void clear() {
    size_ = popped_ = 0;
    behind_.clear();
  }

 private:
  std::size_t size_ = 0;
  Time oldest_{};
  std::vector<Time> behind_;  // the other requests
  std::size_t popped_ = 0;    // number of removed requests at the front of behind_
};

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

// The requests of one connection that have no reply yet, oldest first: when each was due, when it was sent
// (open loops only: elsewhere it is sent when it is due), and its number (over a lossy delivery only).
class Outstanding {
 public:
  struct Request {
    Time due, sent;
  };

  // `numbered`: replies may come in any order, and requests are found by their numbers.
  explicit Outstanding(bool numbered) : numbers_(numbered ? std::make_unique<RequestNumbers>() : nullptr) {}

  bool empty() const { return due_.empty(); }
  std::size_t size() const { return due_.size(); }
  // Not empty:
  Time oldest_due() const { return due_.oldest(); }
  Time oldest_sent() const { return sent_.empty() ? due_.oldest() : sent_.oldest(); }
  // Returns the number of requests that were not due before `earliest`.
  std::size_t due_since(Time earliest) const { return due_.since(earliest); }

  // Adds the request with the greatest number so far. `sent`: in open loops.
  void push(std::uint64_t number, Time due, std::optional<Time> sent) {
    if (numbers_) numbers_->push(number);
    due_.push(due);
    if (sent) sent_.push(*sent);
  }
  // Removes the request at `place`, where 0 is the oldest: it has its reply.
  Request take(std::size_t place) {
    if (numbers_) numbers_->remove(place);
    return remove(place);
  }
  // Removes the oldest request: it has waited for too long. Numbered only.
  Request give_up_oldest() {
    numbers_->lose_oldest();
    return remove(0);
  }
  void set_all(Time time) {  // all requests are due, and sent, at this time
    due_.set_all(time);
    sent_.set_all(time);
  }
  void clear() {
    due_.clear();
    sent_.clear();
    if (numbers_) numbers_->clear();
  }

  RequestNumbers* numbers() const { return numbers_.get(); }  // null unless numbered

 private:
  Request remove(std::size_t place) {
    const Time due = due_.take(place);
    return {.due = due, .sent = sent_.empty() ? due : sent_.take(place)};
  }

  InFlight due_;
  std::unique_ptr<RequestNumbers> numbers_;
  InFlight sent_;
};

}  // namespace joust
