// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "joust/time.hpp"

namespace joust {

// Frames that wait for the time at which they are sent on, first in, first out. Finite: a frame that does not
// fit is dropped and counted, as in a switch whose buffer is full. Time is an argument. One thread.
class HeldFrames {
 public:
  struct Limits {
    std::size_t frames = 1'000'000;
    std::size_t bytes = std::size_t{256} << 20;
  };
  struct Frame {
    Time due{};
    std::size_t from = 0;  // the port at which it arrived
    std::vector<std::byte> bytes{};
  };

  explicit HeldFrames(Limits limits) : limits_(limits) {}

  // Keeps a copy of the frame. Returns false if there is no room.
  bool hold(Time due, std::size_t from, std::span<const std::byte> frame) {
    if (frames_.size() >= limits_.frames || bytes_ + frame.size() > limits_.bytes) {
      ++dropped_;
      return false;
    }
    frames_.push_back({.due = due, .from = from, .bytes = {frame.begin(), frame.end()}});
    bytes_ += frame.size();
    return true;
  }

  bool empty() const { return frames_.empty(); }
  // Return the frame that came first, and remove it. REQUIRES: !empty().
  const Frame& first() const { return frames_.front(); }
  void release() {
    bytes_ -= frames_.front().bytes.size();
    frames_.pop_front();
  }

  std::size_t size() const { return frames_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  const Limits limits_;
  std::deque<Frame> frames_{};
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace joust
