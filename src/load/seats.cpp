// SPDX-License-Identifier: MIT
#include "load/seats.hpp"

#include <algorithm>
#include <utility>

namespace joust {
namespace {

bool is_later(const Seat& one, const Seat& other) {
  return one.due > other.due;
}

}  // namespace

Seats::Seats(const LoadPlan& plan)
    : plan_(plan),
      patience_(plan.reconnect_for == Duration{} ? plan.warmup + plan.duration : plan.reconnect_for) {
  if (!plan.reconnects()) return;
  dialled_.reserve(plan.connections);
  waiting_.reserve(plan.connections);
}

void Seats::begin(Time now) {
  const std::lock_guard lock(mutex_);
  began_ = now;
}

Seat Seats::take() {
  const std::lock_guard lock(mutex_);
  if (dialled_.empty()) return {plan_, taken_++};
  Seat seat = std::move(dialled_.back());
  dialled_.pop_back();
  return seat;
}

void Seats::give_back(Seat seat) {
  const std::lock_guard lock(mutex_);
  dialled_.push_back(std::move(seat));
}

bool Seats::wait(Seat& seat, Time now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(seat.replied, false)) {
    seat.backoff.restart();
    seat.since = now;
  }
  if (!seat.since) seat.since = began_.value_or(now);
  const Time end = *seat.since + patience_;
  if (now >= end) return false;
  seat.due = std::min(now + seat.backoff.next(), end);
  waiting_.push_back(std::move(seat));
  std::ranges::push_heap(waiting_, is_later);
  return true;
}

std::optional<Time> Seats::dial(Time now) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  const Time due = waiting_.front().due;
  if (due > now) return due;
  std::ranges::pop_heap(waiting_, is_later);
  dialled_.push_back(std::move(waiting_.back()));
  waiting_.pop_back();
  return due;
}

std::optional<Seat> Seats::take_waiting() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  std::optional<Seat> last(std::move(waiting_.back()));  // of the heap
  waiting_.pop_back();
  return last;
}

}  // namespace joust
