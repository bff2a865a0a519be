// SPDX-License-Identifier: MIT
#pragma once

#include <sys/select.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <vector>

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

}  // namespace joust
