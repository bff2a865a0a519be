// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace joust {

// Disjoint stretches of numbers; neighbours become one.
class RangeSet {
 public:
  // False, and nothing changes, when some of [begin, end) is there already, or it is empty.
  bool insert(std::uint64_t begin, std::uint64_t end);
  // A stretch that was inserted, though it may have grown together with others since.
  void erase(std::uint64_t begin, std::uint64_t end);
  // Where the stretch ends that `begin` is in; `begin` where it is in none.
  std::uint64_t end_of(std::uint64_t begin) const;
  // How much of [begin, end) is in any stretch; and makes it one, whatever of it is there already.
  std::uint64_t covered(std::uint64_t begin, std::uint64_t end) const;
  void cover(std::uint64_t begin, std::uint64_t end);
  std::size_t pieces() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin to end
};

}  // namespace joust
