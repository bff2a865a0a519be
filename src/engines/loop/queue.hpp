// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

namespace joust {

// The base class of an element of a Queue. Its destructor removes it from its queue, so a queue never holds a
// destroyed object. Used by one thread.
class Place {
 public:
  Place() = default;
  ~Place() { leave(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool queued() const { return next_ != this; }
  void leave() {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    previous_ = next_ = this;
  }

 private:
  template <typename Element>
  friend class Queue;

  Place* previous_ = this;
  Place* next_ = this;
};

// An intrusive queue, first in, first out. An element is in at most one queue: pushing it removes it from
// another.
template <typename Element>
class Queue {
 public:
  bool empty() const { return !head_.queued(); }

  void push(Element& element) {
    Place& place = element;
    place.leave();
    place.previous_ = head_.previous_;
    place.next_ = &head_;
    place.previous_->next_ = place.next_->previous_ = &place;
  }

  // Takes the first element; returns null if the queue is empty.
  Element* pop() {
    if (empty()) return nullptr;
    Place* const first = head_.next_;
    first->leave();
    return static_cast<Element*>(first);
  }

  // Moves all elements of `other` to the end of this queue, in order.
  void take_all(Queue& other) {
    while (Element* element = other.pop()) push(*element);
  }

 private:
  Place head_;
};

// A queue that several threads push to and take from. It allocates nothing, because what it hands over may be
// the end of a peer for lack of memory.
template <typename Element>
class SharedQueue {
 public:
  void push(Element& element) {
    const std::lock_guard lock(mutex_);
    queue_.push(element);
  }
  Element* pop() {
    const std::lock_guard lock(mutex_);
    return queue_.pop();
  }

 private:
  std::mutex mutex_;
  Queue<Element> queue_;
};

}  // namespace joust
