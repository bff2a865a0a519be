// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/time.hpp"
#include "race/trial/runner.hpp"
#include "report/text.hpp"

namespace joust::report {

// Shows the live line of a race on standard error. Shows only remarks if standard error does not obey escape
// sequences.
class RaceProgress : public race::RaceObserver {
 public:
  RaceProgress();
  ~RaceProgress() override;
  RaceProgress(const RaceProgress&) = delete;
  RaceProgress& operator=(const RaceProgress&) = delete;

  void trial_starts(const Step& step) override;
  void trial_ended(const Step& step, const race::Trial& trial) override;
  void note(const std::string& text) override;

 private:
  void show(const std::string& line);

  bool live_;
  Terminal terminal_;
  Time begin_ = Clock::now();
  double last_rate_ = 0;  // messages per second of the trial before
};

// Returns the line: "round 2/5  epoll  trial 7/25  [#####.....]  98.0k msg/s  eta 0:12".
std::string progress_line(const race::RaceObserver::Step& step, double last_rate, Duration elapsed);

}  // namespace joust::report
