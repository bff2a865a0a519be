// SPDX-License-Identifier: MIT
#include <set>
#include <string_view>

#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"

namespace joust::race {

CheckResult check_environment(const RaceResult& race, const CaseResult&) {
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
    findings.warn(
        "softirqs are counted apart: most of what TCP does is in no CPU time of a message, but in `busy`");
  if (environment.items.empty())
    findings.warn("the environment was not recorded, so this result can be compared with no other");
  else
    findings.say("fingerprint {}, kernel {}, {}", environment.fingerprint(), environment.value("kernel"),
                 environment.value("cpu_model"));
  findings.say("loopback: no network was measured");
  return findings.take();
}

}  // namespace joust::race
