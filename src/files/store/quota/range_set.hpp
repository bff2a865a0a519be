// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace joust {

// A set of disjoint ranges of numbers; adjacent ranges are merged.
class RangeSet {
 public:
  // Inserts [begin, end). Returns false, without effect, if the range is empty or overlaps with the set.
  bool insert(std::uint64_t begin, std::uint64_t end);
  // Removes a range that was inserted, even if it has been merged since.
  void erase(std::uint64_t begin, std::uint64_t end);
  // Returns the end of the range that contains `begin`, or `begin` if no range does.
  std::uint64_t end_of(std::uint64_t begin) const;
  // Returns the number of elements of [begin, end) in the set; cover() adds the others.
  std::uint64_t covered(std::uint64_t begin, std::uint64_t end) const;
  void cover(std::uint64_t begin, std::uint64_t end);
  // Removes the elements of [begin, end) that are in the set.
  void uncover(std::uint64_t begin, std::uint64_t end);
  std::size_t pieces() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin to end
};

}  // namespace joust
