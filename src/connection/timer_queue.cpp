// SPDX-License-Identifier: MIT
#include "connection/timer_queue.hpp"

#include <algorithm>

namespace joust {
namespace {

constexpr std::size_t kArity = 4;

}  // namespace

void TimerQueue::place_at(std::size_t place, Timed* entry) {
  heap_[place] = entry;
  entry->place = place;
}

void TimerQueue::sift_up(std::size_t place, Timed* entry) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / kArity;
    if (heap_[parent]->due <= entry->due) break;
    place_at(place, heap_[parent]);
    place = parent;
  }
  place_at(place, entry);
}

void TimerQueue::sift_down(std::size_t place, Timed* entry) {
  for (;;) {
    const std::size_t first = place * kArity + 1;
    if (first >= heap_.size()) break;
    const std::size_t last = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < last; ++child)
      if (heap_[child]->due < heap_[least]->due) least = child;
    if (entry->due <= heap_[least]->due) break;
    place_at(place, heap_[least]);
    place = least;
  }
  place_at(place, entry);
}

void TimerQueue::arm(Timed& entry, Time due) {
  if (entry.place == Timed::kUnqueued) {
    entry.due = due;
    heap_.push_back(&entry);
    sift_up(heap_.size() - 1, &entry);
  } else if (due < entry.due) {
    entry.due = due;
    sift_up(entry.place, &entry);
  }
}

void TimerQueue::remove(Timed& entry) {
  if (entry.place == Timed::kUnqueued) return;
  const std::size_t place = entry.place;
  Timed* const moved = heap_.back();
  heap_.pop_back();
  entry.place = Timed::kUnqueued;
  if (moved == &entry) return;
  place_at(place, moved);
  sift_up(place, moved);
  sift_down(moved->place, moved);
}

Timed* TimerQueue::pop_due(Time now) {
  if (heap_.empty() || heap_.front()->due > now) return nullptr;
  Timed* const first = heap_.front();
  remove(*first);
  return first;
}

std::optional<Time> TimerQueue::next() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front()->due;
}

}  // namespace joust
