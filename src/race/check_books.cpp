// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "race/checks.hpp"
#include "race/findings.hpp"

namespace joust::race {
namespace {

// Half a message more or less is a message on its way; what may be missing at the end of a timed run is what
// was.
bool agree(std::uint64_t here, std::uint64_t there, double slack) {
  const double difference = static_cast<double>(here) - static_cast<double>(there);
  return std::abs(difference) <= slack;
}

// What is wrong with the books of one trial; empty when they balance.
std::string imbalance(const Trial& trial) {
  const LoadResult& load = *trial.load;
  if (load.sent != load.verified + load.failed + load.in_flight)
    return fmt::format("sent {} is not verified {} + failed {} + in flight {}", load.sent, load.verified,
                       load.failed, load.in_flight);
  const double replies = std::max(1.0, static_cast<double>(load.verified));
  const double flying = static_cast<double>(load.in_flight);
  if (trial.server.bytes_received && !agree(load.run_bytes_sent, *trial.server.bytes_received,
                                            flying * static_cast<double>(load.bytes_sent) / replies))
    return fmt::format("the client sent {} bytes, the server received {}", load.run_bytes_sent,
                       *trial.server.bytes_received);
  if (trial.server.bytes_sent && !agree(load.run_bytes_received, *trial.server.bytes_sent,
                                        flying * static_cast<double>(load.bytes_received) / replies))
    return fmt::format("the server sent {} bytes, the client received {}", *trial.server.bytes_sent,
                       load.run_bytes_received);
  return {};
}

// CPU seconds of processes that are not ours during the window, as a share of the machine. Negative when our
// processes claim more than the machine has given.
std::optional<double> strangers_share(const Trial& trial) {
  if (trial.late || !trial.machine || trial.machine->total_s() <= 0) return std::nullopt;
  double ours = trial.load->usage.user_s + trial.load->usage.system_s;
  if (trial.server.usage) ours += trial.server.usage->user_s + trial.server.usage->system_s;
  // Interrupt time is nobody's: kernels differ in whether they also charge it to the process it interrupts.
  const double processes = trial.machine->busy_s() - trial.machine->irq_s - trial.machine->softirq_s;
  const double most = trial.machine->busy_s();
  if (ours > most) return (most - ours) / trial.machine->total_s();
  return std::max(0.0, processes - ours) / trial.machine->total_s();
}

}  // namespace

CheckResult check_books(const RaceResult&, const CaseResult& one) {
  Findings findings(12, "books balance");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  double worst = 0, least = 0;
  std::size_t trials = 0, late = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    for (const Trial* trial : usable_trials(*entry)) {
      ++trials;
      late += trial->late;
      if (const std::string wrong = imbalance(*trial); !wrong.empty()) {
        findings.bar(answerable(*entry), fmt::format("round {}: {}", trial->round, wrong));
        break;
      }
      const double share = strangers_share(*trial).value_or(0);
      worst = std::max(worst, share);
      least = std::min(least, share);
    }
  }
  if (worst > kStrangers)
    findings.warn("processes that are not part of the race used up to {} of the machine during a trial",
                  percent(worst));
  if (late > 0)
    findings.warn("in {} the server's usage could not be read in time and is not known",
                  counted(late, "trial"));
  if (least < -kStrangers)
    findings.warn("server and client claim {} more CPU than the machine has counted as busy",
                  percent(-least));
  if (findings.verdict() == Verdict::pass)
    findings.say(
        "sent = verified + failed + in flight and bytes sent = bytes received in {}; other processes "
        "used at most {} of the machine",
        counted(trials, "trial"), percent(worst));
  return findings.take();
}

}  // namespace joust::race
