// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "joust/session.hpp"

namespace joust {

// An engine's counts during a run, for the results. All methods: any thread. The counting methods do not
// throw: without memory for the text, the failure is still counted.
class Tally {
 public:
  std::atomic<std::uint64_t> opened{0};    // connections that got a session
  std::atomic<std::uint64_t> unopened{0};  // connections that failed before
  std::atomic<std::uint64_t> received{0};  // bytes, of closed connections
  std::atomic<std::uint64_t> sent{0};      // bytes, of closed connections

  // Counts a failure by its stage; keeps descriptions of the first few different ones.
  void failed(const Failure& failure) noexcept;
  // The same for a connection without a session.
  void not_opened(const Failure& failure) noexcept;
  std::uint64_t failures(Stage stage) const { return by_stage_[static_cast<std::size_t>(stage)].load(); }
  std::uint64_t failures() const;

  // A message for people about this run ("the accept queue was left full 3 times"); kept once each.
  void note(std::string_view text) noexcept;

  // A kernel feature that the engine had to do without ("multishot receive"); kept once each.
  void missing(std::string_view feature) noexcept;

  std::vector<std::string> complaints() const;
  std::vector<std::string> notes() const;
  std::vector<std::string> missing() const;

 private:
  static constexpr std::size_t kKept = 8;

  std::array<std::atomic<std::uint64_t>, kStages> by_stage_{};
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::vector<std::string> notes_;
  std::vector<std::string> missing_;
};

// The failure of a connection by an exception on this side: the exception's errno, if any, and its message.
Failure failure_of(const std::exception& error) noexcept;

// "connect 127.0.0.1:1: Connection refused", "receive: Connection reset by peer", "verify: a line is too
// long"
std::string describe(const Failure& failure);

}  // namespace joust
