// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// The least share of connections served.
constexpr double kServed = 0.90;

struct Faults {
  std::size_t failed_trials = 0, silent_trials = 0;
  std::string first_failure{};
  std::uint64_t connections = 0, messages = 0;
  std::map<std::string, std::uint64_t> stages{};
  std::string first_error{};
  std::map<std::string, std::uint64_t> deliveries{};  // lost, duplicated or out of order

  bool none() const {
    return failed_trials + silent_trials == 0 && connections == 0 && messages == 0 && stages.empty() &&
           deliveries.empty();
  }
};

void add_errors(const std::array<std::uint64_t, kStages>& errors, Faults& faults) {
  for (std::size_t stage = 0; stage < kStages; ++stage)
    if (errors[stage] > 0) faults.stages[std::string(stage_name(static_cast<Stage>(stage)))] += errors[stage];
}

void add_deliveries(const LoadResult& load, Faults& faults) {
  const ResultGroup* const deliveries = load.group("deliveries");
  if (deliveries == nullptr) return;
  for (const auto& [what, figure] : deliveries->figures)
    if (const auto* count = std::get_if<std::uint64_t>(&figure);
        count != nullptr && *count > 0 && what != "expected" && what != "received")
      faults.deliveries[what] += *count;
}

// Counts all trials, including disturbed attempts, because a wrong byte is wrong on a busy machine too. Where
// a host was lost, no contestant is to blame.
Faults faults_of(const Entry& entry) {
  Faults faults;
  for (const Trial& trial : entry.trials) {
    if (trial.host_lost) continue;
    if (!trial.failure.empty() && faults.failed_trials++ == 0) faults.first_failure = trial.failure;
    for (const auto& [stage, count] : trial.server.errors) faults.stages["server " + stage] += count;
    faults.connections += trial.server.connections_failed;
    if (!trial.load) continue;
    faults.silent_trials += trial.load->messages.verified == 0;
    faults.connections += trial.load->connections.failed;
    faults.messages += trial.load->messages.failed;
    add_errors(trial.load->errors, faults);
    if (!trial.load->lossy()) add_deliveries(*trial.load, faults);  // otherwise check 13 looks at them
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
  for (const auto& [what, count] : faults.deliveries)
    parts.push_back(fmt::format("{} deliveries {}", count, what));
  std::vector<std::string> stages;
  for (const auto& [stage, count] : faults.stages) stages.push_back(fmt::format("{} {}", stage, count));
  if (!stages.empty()) parts.push_back(fmt::format("errors by stage: {}", join(stages)));
  if (!faults.first_error.empty()) parts.push_back(faults.first_error);
  return join(parts);
}

// Connections without a reply in the timed window. They are no failure if the request timeout is longer than
// the window, but the server was faster for the others.
struct Silence {
  std::uint64_t silent = 0, connections = 0;
  Duration oldest_open{};
  std::uint64_t never = 0;  // of the silent connections, those without a reply in the warm-up too
  double served() const {
    return connections == 0 ? 1 : 1 - static_cast<double>(silent) / static_cast<double>(connections);
  }
};

// Returns the trial with the most connections that were never served. Of trials with an equal number, returns
// that with the smallest share served.
Silence silence_of(const Entry& entry) {
  Silence worst;
  for (const Trial* trial : usable_trials(entry)) {
    const LoadResult& load = *trial->load;
    const Silence here{
        .silent = load.connections.ok - std::min(load.connections.answered, load.connections.ok),
        .connections = load.connections.ok,
        .oldest_open = load.oldest_open_ns,
        .never = load.connections.never_answered};
    if (here.never > worst.never || (here.never == worst.never && here.served() < worst.served()))
      worst = here;
  }
  return worst;
}

std::string describe(const Silence& silence) {
  std::string text = fmt::format("{} of {} connections had no reply in the timed window", silence.silent,
                                 silence.connections);
  if (silence.never > 0) text += fmt::format(", {} of them none before it either", silence.never);
  if (silence.oldest_open > Duration{})
    text += fmt::format("; the oldest request was open for {}: its latencies leave them out",
                        format_duration(silence.oldest_open));
  return text;
}

// Returns false if pauses are too long for every connection to send in the window.
bool all_ask_in_window(const LoadPlan& load) {
  return load.messages || 2 * longest_pause_of(load) <= load.duration;
}

void look_for_silence(const CaseResult& one, const Entry& entry, Findings& findings) {
  if (!all_ask_in_window(one.plan.load)) return;
  const Silence silence = silence_of(entry);
  if (silence.served() < kServed || silence.never > 0)
    findings.bar(answerable(entry), describe(silence), entry.contestant.name);
  else if (silence.silent > 0)
    findings.warn("{}: {}", entry.contestant.name, describe(silence));
}

// Reports connections that the server has ended: a message of such a contestant costs part of a new
// connection too.
void tell_handovers(const Entry& entry, Findings& findings) {
  std::uint64_t handovers = 0;
  for (const Trial& trial : entry.trials) handovers += trial.load ? trial.load->handovers : 0;
  if (handovers > 0)
    findings.say("{}: {} ended with a reply of the server, and were dialled again", entry.contestant.name,
                 counted(handovers, "connection"));
}

}  // namespace

CheckResult check_answers(const RaceResult&, const CaseResult& one) {
  Findings findings(3, "answers verified");
  std::uint64_t verified = 0, delivered = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    for (const Trial& trial : entry->trials) {
      if (!trial.load || !entry->contestant.moves_files) continue;
      verified += trial.load->messages.verified;
      delivered += static_cast<std::uint64_t>(trial.load->number("deliveries", "received").value_or(0));
    }
    const Faults faults = faults_of(*entry);
    if (!faults.none())
      findings.bar(answerable(*entry), describe(faults, entry->trials.size()), entry->contestant.name);
    else if (entry->is_contestant() && usable_trials(*entry).empty())
      findings.bar(entry->contestant.name, "it was not measured");
    else
      look_for_silence(one, *entry, findings);
    if (entry->is_contestant() && !one.plan.load.messages_per_connection) tell_handovers(*entry, findings);
  }
  const std::string count = format_count(static_cast<double>(verified));
  if (one.verified.empty())
    findings.warn(
        "{} replies came, and are not verified: nothing says what a right one is, of all or of some messages "
        "(--expect)",
        count);
  else
    findings.say("{} {} verified {}", count, one.plan.files ? "files" : "replies", one.verified);
  if (delivered > 0)
    findings.say("{} deliveries verified in the whole runs", format_count(static_cast<double>(delivered)));
  return findings.take();
}

}  // namespace joust::race
