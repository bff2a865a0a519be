// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>
#include <string_view>

#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"

namespace joust::race {
namespace {

// Returns whether the figure is known of any contestant: sides that are not pinned have none.
bool knows_busy(const CaseResult& one) {
  return std::ranges::any_of(
      one.entries, [](const Entry& entry) { return entry.summary.busy_us_per_message.has_value(); });
}

}  // namespace

CheckResult check_environment(const RaceResult& race, const CaseResult& one) {
  Findings findings(11, "environment");
  const Environment& environment = race.environment;
  const std::set<std::string_view> slow_clocks{"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
  const std::string_view clock = environment.value("clocksource");
  if (slow_clocks.contains(clock))
    findings.warn("the clock source is {}: every time stamp is a system call, which slows the client", clock);
  const std::string_view governor = environment.value("governor");
  if (governor != "unknown" && governor != "performance")
    findings.warn("the CPU governor is {}: the clock rate changes with the load", governor);
  if (environment.value("softirq_time") == kSoftirqApart)
    findings.warn("softirqs are counted apart: most of what TCP does is in no CPU time of a message{}",
                  knows_busy(one) ? ", but in `busy`" : "");
  if (environment.items.empty())
    findings.warn("the environment was not recorded, so this result can be compared with no other");
  else
    findings.say("fingerprint {}, kernel {}, {}", environment.fingerprint(), environment.value("kernel"),
                 environment.value("cpu_model"));
  findings.say("loopback: no network was measured");
  return findings.take();
}

}  // namespace joust::race
