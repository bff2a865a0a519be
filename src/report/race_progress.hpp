// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "joust/time.hpp"
#include "race/trial/runner.hpp"
#include "report/text.hpp"

namespace joust::report {

// How a race is shown while it runs: as one line that changes, where standard error obeys escape sequences;
// as a line for each round; as one JSON object for each round; or not at all.
enum class ShownAs : std::uint8_t { live, lines, json, none };

// Shows a race on standard error. It is drawn between trials and rounds of turns, never in one.
class RaceProgress : public race::RaceObserver {
 public:
  explicit RaceProgress(ShownAs shown);
  ~RaceProgress() override;
  RaceProgress(const RaceProgress&) = delete;
  RaceProgress& operator=(const RaceProgress&) = delete;

  void trial_starts(const Step& step) override;
  void trial_ended(const Step& step, const race::Trial& trial) override;
  void note(const std::string& text) override;

 private:
  void show(const std::string& line);
  void round_begins(const Step& step);

  ShownAs shown_;
  bool live_;
  Terminal terminal_;
  Time begin_ = Clock::now();
  double last_rate_ = 0;  // messages per second of the trial before
  std::uint64_t round_ = 0;
  std::string case_{};
};

// Returns the line of a round that begins: "12.3 s  main  round 5  to epoll: io-uring 1.23 ± 4 %, goal 3 %".
// Warnings follow, each after an exclamation mark.
std::string round_line(const race::RaceObserver::Step& step, Duration elapsed);
// Returns it as a JSON object in one line: event (round), case, round, rounds, elapsed_s, time_s,
// standing, warnings.
// Remarks are objects too: event (note), text.
std::string round_json(const race::RaceObserver::Step& step, Duration elapsed);

// Returns the line: "round 2/5  epoll  trial 7/25  [#####.....]  98.0k msg/s  eta 0:12".
std::string progress_line(const race::RaceObserver::Step& step, double last_rate, Duration elapsed);

}  // namespace joust::report
