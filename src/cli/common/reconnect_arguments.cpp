// SPDX-License-Identifier: MIT
#include "cli/common/reconnect_arguments.hpp"

#include <fmt/format.h>

#include "base/duration_range.hpp"
#include "cli/common/arguments.hpp"
#include "hosting/options.hpp"

namespace joust {

void ReconnectArguments::add_to(Command command, LoadPlan& plan) {
  command
      .add_option("--reconnect", reconnect_,
                  "a connection that fails to open, is reset, is closed early or gets no reply is dialled "
                  "again: always, or never [never]; the requests lost with it have failed")
      .type_name("WHEN")
      .one_of({"never", "always"});
  command
      .add_option("--backoff", backoff_,
                  "with --reconnect always, the pause before each dial: up to the first time, twice as long "
                  "after each dial in vain, up to the second; at least half of it, the rest is drawn "
                  "[50ms..1s]")
      .type_name("TIME[..TIME]");
  limit_ = add_duration(command, "--reconnect-for", plan.reconnect_for,
                        "with --reconnect always, give a connection up that had no reply for so long "
                        "[-w and -d together, with -m 10s in place of -d]",
                        std::chrono::milliseconds(1));
}

void ReconnectArguments::complete(LoadPlan& plan, const Engine& engine, const Protocol& protocol) const {
  if (reconnect_ == "always") plan.reconnect = LoadPlan::Reconnect::always;
  if (!plan.reconnects() && (!backoff_.empty() || limit_->given()))
    throw UsageError("--backoff and --reconnect-for need --reconnect always");
  if (!backoff_.empty()) {
    const auto range = parse_duration_range(backoff_);
    if (!range) throw UsageError("--backoff: " + range.error());
    plan.backoff_least = range->least;
    plan.backoff_most = range->most;
  }
  check_reconnect(plan, engine, protocol);
}

}  // namespace joust
