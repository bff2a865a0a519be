// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace joust {

// Keeps the first few different texts of many, such as the complaints of a run. It is plain memory of a fixed
// size: processes may share it, and keeping a text neither allocates, throws nor waits. Any thread, any
// process.
class DistinctTexts {
 public:
  static constexpr std::size_t kKept = 8;
  static constexpr std::size_t kLongest = 240;  // bytes; the rest of a text is cut off

  void keep(std::string_view text);
  std::vector<std::string> all() const;

 private:
  enum class State : std::uint8_t { free, written, ready };
  struct Place {
    std::atomic<State> state{State::free};
    std::uint8_t size = 0;
    std::array<char, kLongest> text{};
  };
  std::array<Place, kKept> places_{};
};

}  // namespace joust
