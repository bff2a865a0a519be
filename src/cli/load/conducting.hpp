// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <expected>
#include <optional>
#include <string>

#include "joust/time.hpp"
#include "load/run.hpp"
#include "measure/usage.hpp"
#include "net/stop.hpp"

// How another process conducts a load by SIGUSR1: it begins the turns of a race, or the whole load.
namespace joust {

// Lets another process conduct the turns of a load. SIGUSR1 begins a turn. Its value (sigqueue(3)) is the
// turn's length in microseconds, or for counted turns the number of messages of each connection. The value is
// negative if the turn is not recorded. At the end of each turn one JSON line on the standard output reports
// the counts so far. One at a time in a process.
class TurnTaking {
 public:
  // `ramp`: the begin of each turn that is not recorded, at most the share kRampShare; 0: that share.
  TurnTaking(LoadRun& run, Duration ramp);
  ~TurnTaking();
  TurnTaking(const TurnTaking&) = delete;
  TurnTaking& operator=(const TurnTaking&) = delete;

  // Begins a turn; the handler of SIGUSR1. Async-signal-safe. Ignores a turn before the end of the previous
  // one.
  static void begin(int value) noexcept;

  // Called at the milestone `rested`, on the thread that reached it.
  void end();

  // Return the usage and the length of all turns, without the time between them. Call after the run.
  Usage used() const { return used_; }
  Duration used_over() const { return used_over_; }

 private:
  Duration ramp_of(Duration length) const;

  LoadRun& run_;
  const Duration ramp_;
  Time began_{};  // begin of the turn
  Usage before_{};
  Usage used_{};
  Duration used_over_{};
};

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
