// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/wording.hpp"

namespace joust::race {
namespace {

// An answer that comes sooner has passed no network: it is the conductor's own clock.
constexpr double kOtherClock_s = 1e-6;

// Returns whether the figure is known of any contestant: sides that are not pinned have none.
bool knows_busy(const CaseResult& one) {
  return std::ranges::any_of(
      one.entries, [](const Entry& entry) { return entry.summary.busy_us_per_message.has_value(); });
}

// Warns where hosts differ in what both sides of a race have in common on one machine.
void compare_hosts(const RaceResult& race, Findings& findings) {
  constexpr std::pair<const char*, const char*> kFacts[] = {
      {"kernel", "kernels"}, {"cpu_model", "CPU models"}, {"joust_version", "versions of joust"}};
  for (const auto& [fact, words] : kFacts) {
    std::set<std::string> values;
    std::vector<std::string> each;
    for (const HostOfRace& host : race.hosts) {
      values.emplace(host.environment.value(fact));
      each.push_back(fmt::format("{} has {}", host.name, host.environment.value(fact)));
    }
    if (values.size() > 1) findings.warn("the hosts have different {}: {}", words, join(each));
  }
}

// The parts of a load work together only while all of them work.
void describe_begins(const HostOfRace& host, Findings& findings) {
  constexpr double kMostLate = 0.05;
  if (!host.begins || host.begins->late == 0) return;
  const Begins& begins = *host.begins;
  const std::string words =
      fmt::format("{} began {} of {} more than {} late, at most {}", host.name, begins.late,
                  counted(begins.turns, "turn"), format_duration(kLateBegin), format_duration(begins.latest));
  if (static_cast<double>(begins.late) > kMostLate * static_cast<double>(begins.turns))
    findings.warn("{}", words);
  else
    findings.say("{}", words);
}

// They are not in the figures.
void describe_refused_rounds(const RaceResult& race, Findings& findings) {
  if (race.lost_hosts.empty()) return;
  findings.warn("{} refused: {}", counted(race.lost_hosts.size(), "round"), race.lost_hosts.back());
}

void describe_network(const RaceResult& race, Findings& findings) {
  std::set<std::string> kernels;
  for (const HostOfRace& host : race.hosts) {
    if (!kernels.insert(host.boot_id).second && !host.boot_id.empty())
      findings.warn("{} shares its kernel with another host: no network between machines was measured",
                    host.name);
    findings.say("{}: {}", host.name, network_words(host));
    if (host.clock_offset_s && host.clock_error_s && *host.clock_error_s >= kOtherClock_s)
      findings.say("clock of {}: {:+.6f} s, within {:.6f} s", host.name, *host.clock_offset_s,
                   *host.clock_error_s);
    describe_begins(host, findings);
  }
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
  if (race.hosts.empty()) findings.say("loopback: no network was measured");
  compare_hosts(race, findings);
  describe_network(race, findings);
  describe_refused_rounds(race, findings);
  return findings.take();
}

}  // namespace joust::race
