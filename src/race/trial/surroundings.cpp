// SPDX-License-Identifier: MIT
#include "race/trial/surroundings.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "joust/time.hpp"
#include "measure/proc_file.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {
namespace {

constexpr Duration kMostRestlessness = std::chrono::milliseconds(10);
constexpr Duration kLookAgain = std::chrono::microseconds(100);
constexpr double kQuiet_s = 5e-6;  // CPU time in kLookAgain

}  // namespace

double quiet_reading_s(ProcessClock& clock) {
  const Time deadline = Clock::now() + kMostRestlessness;
  double before_s = clock.read_s();
  while (Clock::now() < deadline) {
    std::this_thread::sleep_for(kLookAgain);
    const double now_s = clock.read_s();
    const bool is_quiet = now_s - before_s < kQuiet_s;
    before_s = now_s;
    if (is_quiet) break;
  }
  return before_s;
}

namespace {

template <typename Counter>
std::optional<Counter> difference(const std::optional<Counter>& before, const std::optional<Counter>& after) {
  return before && after ? std::optional(*after - *before) : std::nullopt;
}

template <typename Counter>
void add(std::optional<Counter>& sum, const std::optional<Counter>& window) {
  if (window) sum = sum.value_or(Counter{}) + *window;
}

}  // namespace

Surroundings read_surroundings(const PinnedCpus& pinned) {
  const std::string text = read_proc_file("/proc/stat").value_or("");
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::chrono::duration<double> now = Clock::now().time_since_epoch();
  const auto part = [&](const std::vector<int>& cpus) {
    auto counts = cpus.empty() ? std::nullopt : parse_machine_cpu(text, ticks_per_second, cpus);
    if (counts) counts->clock_s = now.count() * static_cast<double>(cpus.size());
    return counts;
  };
  return {.machine = parse_machine_cpu(text, ticks_per_second),
          .pinned = part(pinned.all),
          .server_cpus = part(pinned.server),
          .client_cpus = part(pinned.client),
          .throttled = read_throttling(),
          .clock = read_clock_rates(pinned.all)};
}

Surroundings window_of(const Surroundings& before, const Surroundings& after) {
  Surroundings window{.machine = difference(before.machine, after.machine),
                      .pinned = difference(before.pinned, after.pinned),
                      .server_cpus = difference(before.server_cpus, after.server_cpus),
                      .client_cpus = difference(before.client_cpus, after.client_cpus),
                      .throttled = difference(before.throttled, after.throttled)};
  if (before.clock && after.clock) window.clock = *before.clock | *after.clock;
  return window;
}

void note_surroundings(const Surroundings& window, Trial& trial) {
  add(trial.machine, window.machine);
  add(trial.pinned, window.pinned);
  add(trial.server_cpus, window.server_cpus);
  add(trial.client_cpus, window.client_cpus);
  add(trial.throttled, window.throttled);
  if (window.clock) trial.clock = trial.clock ? *trial.clock | *window.clock : *window.clock;
}

PinnedCpus pinned_cpus(const CpuPlan& plan, bool in_process) {
  const std::set<int> client = cpus_in(plan.client), server = cpus_in(plan.server);
  if (client.empty() || (server.empty() && !in_process)) return {};
  if (in_process) return {.all = {client.begin(), client.end()}};
  PinnedCpus pinned;
  std::ranges::set_union(client, server, std::back_inserter(pinned.all));
  if (pinned.all.size() < client.size() + server.size()) return pinned;
  pinned.server.assign(server.begin(), server.end());
  pinned.client.assign(client.begin(), client.end());
  return pinned;
}

}  // namespace joust::race
