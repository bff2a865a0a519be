// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "joust/time.hpp"
#include "load/in_flight.hpp"
#include "load/request_numbers.hpp"

namespace joust {

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
