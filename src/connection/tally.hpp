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

// What an engine counts while it runs, for the results. All methods: any thread. Those that count do not
// throw: where there is no memory for the words, the count remains.
class Tally {
 public:
  std::atomic<std::uint64_t> opened{0};    // connections that got a session
  std::atomic<std::uint64_t> unopened{0};  // connections that failed before
  std::atomic<std::uint64_t> received{0};  // bytes, of closed connections
  std::atomic<std::uint64_t> sent{0};      // bytes, of closed connections

  // Counts a failure by its stage; the first few different ones are kept in words.
  void failed(const Failure& failure) noexcept;
  // The same of a connection that has no session.
  void not_opened(const Failure& failure) noexcept;
  std::uint64_t failures(Stage stage) const { return by_stage_[static_cast<std::size_t>(stage)].load(); }
  std::uint64_t failures() const;

  // Something a person should know about this run ("the accept queue was left full 3 times"); kept once each.
  void note(std::string_view text) noexcept;

  // A feature of the kernel the engine would use and had to do without ("multishot receive"); kept once each.
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

// The failure that an exception of this side is to one connection: its errno where it has one, and its words.
Failure failure_of(const std::exception& error) noexcept;

// "connect 127.0.0.1:1: Connection refused", "receive: Connection reset by peer", "verify: a line is too
// long"
std::string describe(const Failure& failure);

}  // namespace joust
