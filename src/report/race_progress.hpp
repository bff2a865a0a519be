// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/time.hpp"
#include "race/trial/runner.hpp"
#include "report/text.hpp"

namespace joust::report {

// The live line of a race on standard error: nothing but remarks where that obeys no escapes.
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

// "round 2/5  epoll  trial 7/25  [#####.....]  98.0k msg/s  eta 0:12"
std::string progress_line(const race::RaceObserver::Step& step, double last_rate, Duration elapsed);

}  // namespace joust::report
