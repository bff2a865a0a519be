// SPDX-License-Identifier: MIT
#include <fmt/ranges.h>

#include <cstdlib>

#include "base/text.hpp"
#include "race/checks.hpp"
#include "race/findings.hpp"

namespace joust::race {
namespace {

struct Faults {
  std::size_t failed_trials = 0, silent_trials = 0;
  std::string first_failure{};
  std::uint64_t connections = 0, messages = 0;
  std::map<std::string, std::uint64_t> stages{};
  std::string first_error{};

  bool none() const {
    return failed_trials + silent_trials == 0 && connections == 0 && messages == 0 && stages.empty();
  }
};

// Over all trials, also those of a disturbed attempt: a wrong byte is wrong on a busy machine too.
Faults faults_of(const Entry& entry) {
  Faults faults;
  for (const Trial& trial : entry.trials) {
    if (!trial.failure.empty() && faults.failed_trials++ == 0) faults.first_failure = trial.failure;
    for (const auto& [stage, count] : trial.server.errors) faults.stages["server " + stage] += count;
    faults.connections += trial.server.connections_failed;
    if (!trial.load) continue;
    faults.silent_trials += trial.load->verified == 0;
    faults.connections += trial.load->connections_failed;
    faults.messages += trial.load->failed;
    for (const auto& [stage, count] : trial.load->errors) faults.stages[stage] += count;
    if (faults.first_error.empty() && !trial.load->messages_of_errors.empty())
      faults.first_error = trial.load->messages_of_errors.front();
  }
  return faults;
}

std::string describe(const Faults& faults, std::size_t trials) {
  std::vector<std::string> parts;
  if (faults.failed_trials > 0)
    parts.push_back(fmt::format("{} of {} failed: {}", faults.failed_trials, counted(trials, "trial"),
                                faults.first_failure));
  if (faults.silent_trials > 0)
    parts.push_back(fmt::format("not one reply in the timed window of {} of {}", faults.silent_trials,
                                counted(trials, "trial")));
  if (faults.connections > 0) parts.push_back(counted(faults.connections, "connection") + " failed");
  if (faults.messages > 0) parts.push_back(counted(faults.messages, "message") + " failed");
  std::vector<std::string> stages;
  for (const auto& [stage, count] : faults.stages) stages.push_back(fmt::format("{} {}", stage, count));
  if (!stages.empty()) parts.push_back(fmt::format("errors by stage: {}", fmt::join(stages, ", ")));
  if (!faults.first_error.empty()) parts.push_back(faults.first_error);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

CheckResult check_answers(const RaceResult&, const CaseResult& one) {
  Findings findings(3, "answers verified");
  std::uint64_t verified = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    for (const Trial& trial : entry->trials) verified += trial.load ? trial.load->verified : 0;
    const Faults faults = faults_of(*entry);
    if (!faults.none())
      findings.bar(answerable(*entry), describe(faults, entry->trials.size()));
    else if (entry->is_contestant() && usable_trials(*entry).empty())
      findings.bar(entry->contestant.name, "it was not measured");
  }
  findings.say("{} replies verified byte for byte", format_count(static_cast<double>(verified)));
  return findings.take();
}

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
