// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <expected>
#include <optional>
#include <string>

#include "joust/time.hpp"
#include "net/stop.hpp"

namespace joust {

// Parses a time of --start-at: "2026-01-31T12:00:00Z", or "+5s" from now on. An error says what is wrong.
std::expected<Time, std::string> parse_start(const std::string& text);

// Delays the start of a load until a time that is known, or that SIGUSR1 passes on when all connections are
// open. One at a time in a process.
class StartTime {
 public:
  // Without a time the signal is awaited.
  explicit StartTime(std::optional<Time> known);
  ~StartTime();
  StartTime(const StartTime&) = delete;
  StartTime& operator=(const StartTime&) = delete;

  // The handler of SIGUSR1. Async-signal-safe.
  static void pass(int value) noexcept;

  // Returns at the time, with the time at which it returns. Returns earlier if a stop is requested; requests
  // it where no signal comes.
  Time wait(Stop& stop);

  // Returns by how much the start was later than asked for; below 0 if it was stopped before.
  Duration late() const { return late_; }

 private:
  std::atomic<std::int64_t> begins_ns_;
  Duration late_{};
};

}  // namespace joust
