// SPDX-License-Identifier: MIT
#include "load/seats.hpp"

#include <algorithm>
#include <utility>

namespace joust {
namespace {

bool is_later(const Seat& one, const Seat& other) {
  return one.due > other.due;
}

void push(std::vector<Seat>& heap, Seat seat) {
  heap.push_back(std::move(seat));
  std::ranges::push_heap(heap, is_later);
}

Seat pop(std::vector<Seat>& heap) {
  std::ranges::pop_heap(heap, is_later);
  Seat first = std::move(heap.back());
  heap.pop_back();
  return first;
}

}  // namespace

Seats::Seats(const LoadPlan& plan)
    : plan_(plan),
      patience_(plan.reconnect_for == Duration{} ? plan.warmup + plan.duration : plan.reconnect_for) {
  dialled_.reserve(plan.connections);
  handed_over_.reserve(plan.connections);
  if (plan.reconnects()) waiting_.reserve(plan.connections);
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

std::optional<Seat> Seats::take_handover() {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(dialled_, [](const Seat& seat) { return seat.handover != nullptr; });
  if (found == dialled_.end()) return std::nullopt;
  std::swap(*found, dialled_.back());
  std::optional<Seat> seat(std::move(dialled_.back()));
  dialled_.pop_back();
  return seat;
}

void Seats::hand_over(Seat seat, Time now) {
  const std::lock_guard lock(mutex_);
  seat.due = now;
  push(handed_over_, std::move(seat));
}

bool Seats::dial_handover() {
  const std::lock_guard lock(mutex_);
  if (handed_over_.empty()) return false;
  dialled_.push_back(pop(handed_over_));
  return true;
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
  push(waiting_, std::move(seat));
  return true;
}

std::optional<Time> Seats::dial(Time now) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  const Time due = waiting_.front().due;
  if (due > now) return due;
  dialled_.push_back(pop(waiting_));
  return due;
}

std::optional<Seat> Seats::take_waiting() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  std::optional<Seat> last(std::move(waiting_.back()));  // last element of the heap
  waiting_.pop_back();
  return last;
}

}  // namespace joust
