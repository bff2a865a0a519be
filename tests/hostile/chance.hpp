// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

#include "joust/time.hpp"

namespace joust::hostile {

// The decisions of one peer. Each peer has a stream of its own, so that its decisions do not depend on the
// order in which the kernel reports events. The results are the same with every standard library.
class Chance {
 public:
  Chance(std::uint64_t seed, std::uint64_t stream) {
    std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
    next_.seed(words);
  }

  std::uint64_t below(std::uint64_t end) { return next_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  template <typename Item>
  Item pick(std::initializer_list<Item> items) {
    return items.begin()[below(items.size())];
  }
  template <typename Range>
  const auto& any_of(const Range& range) {
    return range.begin()[static_cast<std::ptrdiff_t>(below(range.size()))];
  }

  // 1 to `most`. Each power of two is as likely as the others, so that small sizes come up as often as large.
  std::uint64_t size(std::uint64_t most) {
    const std::uint64_t bits = below(static_cast<std::uint64_t>(std::bit_width(most)));
    return std::min(most, (std::uint64_t{1} << bits) + below(std::uint64_t{1} << bits));
  }
  Duration time(Duration most) { return Duration(static_cast<Duration::rep>(size(most.count()))); }

  std::string bytes(std::size_t size) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(next_());
    return text;
  }

 private:
  std::mt19937_64 next_;
};

}  // namespace joust::hostile
