// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command_line.hpp"
#include "joust/load_plan.hpp"

namespace joust {

// When a load's requests are due: -i, -R, --arrivals, --phase.
class ScheduleArguments {
 public:
  // -i and -R go to `plan`, which outlives the command line.
  void add_to(Command command, LoadPlan& plan);
  // After parsing: the rest. Throws UsageError for what means nothing together.
  void complete(LoadPlan& plan) const;

 private:
  std::string arrivals_, phase_;
};

}  // namespace joust
