// SPDX-License-Identifier: MIT
#include "cli/common/schedule_arguments.hpp"

#include <limits>

#include "cli/common/arguments.hpp"
#include "hosting/options.hpp"

namespace joust {

void ScheduleArguments::add_to(Command command, LoadPlan& plan) {
  const Option interval =
      add_duration(command, "-i,--interval", plan.interval,
                   "closed schedule: time from one message of a connection to the next [0]; with all slots "
                   "(--depth) in use the next one is moved back, so a server that stops delays few messages, "
                   "and few delays are counted: see -R");
  add_rate(command, "-R,--rate", plan.rate_per_s,
           "open loop: messages a second, of all connections together; latency counts from the time at which "
           "each was due, whatever the server does")
      .excludes(interval);
  command
      .add_option("--arrivals", arrivals_,
                  "with -R, the gaps between messages: constant or poisson [constant]")
      .type_name("KIND")
      .one_of({"constant", "poisson"});
  add_count(command, "--seed", plan.seed, "of Poisson arrivals: another one gives other arrivals [0]", 0,
            std::numeric_limits<std::int64_t>::max());
  command
      .add_option(
          "--phase", phase_,
          "with -R or -i, when the connections begin: spread over the interval, or all together in one "
          "burst [spread]")
      .type_name("HOW")
      .one_of({"spread", "together"});
}

void ScheduleArguments::complete(LoadPlan& plan) const {
  if (!arrivals_.empty() && !plan.open_loop())
    throw UsageError("--arrivals needs -R: without a rate no message has a time to arrive at");
  if (!phase_.empty() && plan.mean_interval().count() == 0)
    throw UsageError("--phase needs -R or -i: without a schedule each reply is followed by the next message");
  if (arrivals_ == "poisson") plan.arrivals = LoadPlan::Arrivals::poisson;
  if (phase_ == "together") plan.phase = LoadPlan::Phase::together;
  check_rate(plan);
}

}  // namespace joust
