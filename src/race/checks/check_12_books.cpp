// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {
namespace {

// Compares the counts of both sides. They may differ by the bytes of messages in flight, because a timed run
// may end before these arrive.
bool agree(std::uint64_t here, std::uint64_t there, double slack) {
  const double difference = static_cast<double>(here) - static_cast<double>(there);
  return std::abs(difference) <= slack;
}

// Describes the first count of a trial that does not balance. Empty if all do.
std::string imbalance(const Trial& trial) {
  const LoadResult& load = *trial.load;
  const Recorder::Counts& messages = load.messages;
  if (messages.sent != messages.verified + messages.failed + messages.lost + messages.in_flight)
    return fmt::format("sent {} is not verified {} + failed {}{} + in flight {}", messages.sent,
                       messages.verified, messages.failed,
                       load.lossy ? fmt::format(" + lost {}", messages.lost) : "", messages.in_flight);
  if (load.lossy) return {};  // bytes may be lost on the way, and requests to join are sent again
  const double replies = std::max(1.0, static_cast<double>(messages.verified));
  const double flying = static_cast<double>(messages.in_flight);
  if (trial.server.bytes_received && !agree(load.total_bytes_sent, *trial.server.bytes_received,
                                            flying * static_cast<double>(messages.bytes_sent) / replies))
    return fmt::format("the client sent {} bytes, the server received {}", load.total_bytes_sent,
                       *trial.server.bytes_received);
  if (trial.server.bytes_sent && !agree(load.total_bytes_received, *trial.server.bytes_sent,
                                        flying * static_cast<double>(messages.bytes_received) / replies))
    return fmt::format("the server sent {} bytes, the client received {}", *trial.server.bytes_sent,
                       load.total_bytes_received);
  return {};
}

}  // namespace

CheckResult check_books(const RaceResult& race, const CaseResult& one) {
  Findings findings(12, "books balance");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  double worst = 0, least = 0;
  std::size_t trials = 0, late = 0, above = 0, lossy = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    for (const Trial* trial : usable_trials(*entry)) {
      ++trials;
      late += trial->late;
      lossy += trial->load->lossy;
      if (const std::string wrong = imbalance(*trial); !wrong.empty()) {
        findings.bar(answerable(*entry), fmt::format("round {}: {}", trial->round, wrong));
        break;
      }
      const double share = strangers_share(*trial, entry->in_process).value_or(0);
      above += share > kStrangers;
      worst = std::max(worst, share);
      least = std::min(least, share);
    }
  }
  if (worst > kStrangers)
    findings.warn(
        "processes that are not part of the race used up to {} of the machine during a trial ({} of {} above "
        "{}{})",
        percent(worst), above, counted(trials, "trial"), percent(kStrangers),
        race.scenario.quick ? "; a quick race runs no round again" : "");
  if (late > 0)
    findings.warn("in {} the server's usage could not be read in time and is not known",
                  counted(late, "trial"));
  if (least < -kStrangers)
    findings.warn("server and client claim {} more CPU than the machine has counted as busy",
                  percent(-least));
  if (findings.verdict() == Verdict::pass && one.plan.files)
    findings.say("all files arrived in {}; other processes used at most {} of the machine",
                 counted(trials, "trial"), percent(worst));
  else if (findings.verdict() == Verdict::pass)
    findings.say(
        "sent = verified + failed + {}in flight{} in {}; other processes used at most {} of the machine",
        lossy > 0 ? "lost + " : "", lossy < trials ? " and bytes sent = bytes received" : "",
        counted(trials, "trial"), percent(worst));
  return findings.take();
}

}  // namespace joust::race
