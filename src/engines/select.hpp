// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/select.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "engines/loop/poller.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {

// A set of descriptors in the form that select(2) reads and overwrites, for descriptors of any number. It is
// an array of the same words as fd_set. The type fd_set ends at FD_SETSIZE (1,024) descriptors, and FD_SET()
// with a larger number writes beyond its end; the kernel has no such limit.
class SocketSet {
 public:
  // Makes room for descriptors up to `highest`. The other methods do not allocate.
  void reach(int highest) {
    const std::size_t words = place(highest) + 1;
    if (words > words_.size()) words_.resize(words);
  }
  void clear() {
    std::ranges::fill(words_, Word{0});
    count_ = 0;
  }
  void set(int fd, bool member) {
    if (contains(fd) == member) return;
    words_[place(fd)] ^= bit(fd);
    member ? ++count_ : --count_;
  }
  bool contains(int fd) const { return (words_[place(fd)] & bit(fd)) != 0; }
  bool empty() const { return count_ == 0; }

  // For select(), which overwrites the set with the ready members; empty() is then not up to date.
  fd_set* raw() { return reinterpret_cast<fd_set*>(words_.data()); }

  // Calls visit(fd) for the members of either set, in ascending order. Both sets have room for the same
  // descriptors. visit() may change the sets.
  template <typename Visit>
  friend void visit_members(const SocketSet& one, const SocketSet& other, Visit&& visit) {
    for (std::size_t i = 0; i < one.words_.size(); ++i)
      for (Word left = one.words_[i] | other.words_[i]; left != 0; left &= left - 1)
        visit(static_cast<int>(i * kBits) + std::countr_zero(left));
  }

 private:
  using Word = std::make_unsigned_t<fd_mask>;
  static constexpr std::size_t kBits = 8 * sizeof(Word);

  static std::size_t place(int fd) { return static_cast<std::size_t>(fd) / kBits; }
  static Word bit(int fd) { return Word{1} << (static_cast<std::size_t>(fd) % kBits); }

  std::vector<Word> words_;
  std::size_t count_ = 0;
};

// The poller of select; select-blocking waits with it too. Its sets are kept, and copied for each wait,
// because select overwrites them.
class Select {
 public:
  explicit Select(const Hosting& /*hosting*/) {}

  Reports reports() const { return {.resets = false}; }
  void watch(int fd, Watched& what, unsigned events) {
    reach(fd);
    whats_[static_cast<std::size_t>(fd)] = &what;
    reading_.set(fd, (events & (POLLIN | kReset)) != 0);
    writing_.set(fd, (events & POLLOUT) != 0);
    what.armed = events;
  }
  void forget(int fd, Watched& /*what*/) {
    reading_.set(fd, false);
    writing_.set(fd, false);
  }
  // All that is ready is gathered first: what a door lets in is not covered by this result.
  template <typename Loop>
  void wait(Loop& loop, Duration most) {
    readable_ = reading_;
    writable_ = writing_;
    timeval timeout = to_timeval(most);
    const int count = static_cast<int>(whats_.size());
    ready_.clear();
    if (loop.woken(::select(count, readable_.raw(), writable_.raw(), nullptr, &timeout), "select()") == 0)
      return;
    visit_members(readable_, writable_, [&](int fd) {
      const unsigned events =
          (readable_.contains(fd) ? POLLIN : 0U) | (writable_.contains(fd) ? POLLOUT : 0U);
      ready_.push_back({whats_[static_cast<std::size_t>(fd)], events});
    });
    const auto at = [&](std::size_t i) { return i < ready_.size() ? ready_[i].what : nullptr; };
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      loop.fetch_ahead(at(i + 1), at(i + 2));
      loop.ready(*ready_[i].what, ready_[i].events);
    }
  }

 private:
  struct Ready {
    Watched* what;
    unsigned events;
  };

  // Makes room for a descriptor. Later copies of the sets then do not allocate.
  void reach(int fd) {
    const std::size_t count = static_cast<std::size_t>(fd) + 1;
    if (count <= whats_.size()) return;
    for (SocketSet* set : {&reading_, &writing_, &readable_, &writable_}) set->reach(fd);
    ready_.reserve(count);
    whats_.resize(count);
  }

  SocketSet reading_, writing_;    // what to ask for: input, room
  SocketSet readable_, writable_;  // the question to select(), and its answer
  std::vector<Watched*> whats_;    // by descriptor
  std::vector<Ready> ready_;
};

}  // namespace joust
