// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "race/checks/checks.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

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
  const LoadResult::Messages& messages = load.messages;
  if (messages.sent != messages.verified + messages.failed + messages.lost.value_or(0) + messages.in_flight)
    return fmt::format("sent {} is not verified {} + failed {}{} + in flight {}", messages.sent,
                       messages.verified, messages.failed,
                       messages.lost ? fmt::format(" + lost {}", *messages.lost) : "", messages.in_flight);
  if (load.lossy()) return {};  // bytes may be lost on the way, and requests to join are sent again
  const double replies = std::max(1.0, static_cast<double>(messages.verified));
  const double flying = static_cast<double>(messages.in_flight);
  if (trial.server.bytes_received && !agree(load.bytes.total_sent, *trial.server.bytes_received,
                                            flying * static_cast<double>(load.bytes.sent) / replies))
    return fmt::format("the client sent {} bytes, the server received {}", load.bytes.total_sent,
                       *trial.server.bytes_received);
  if (trial.server.bytes_sent && !agree(load.bytes.total_received, *trial.server.bytes_sent,
                                        flying * static_cast<double>(load.bytes.received) / replies))
    return fmt::format("the server sent {} bytes, the client received {}", *trial.server.bytes_sent,
                       load.bytes.total_received);
  return {};
}

// The shares of strangers in the trials of a case, on each side. Of a contestant in turns, all generations
// together are judged too: each may have too few ticks.
class StrangersSeen {
 public:
  void add(std::span<const Trial* const> trials, bool in_process) {
    for (const Strangers& here : strangers_in(trials, in_process)) {
      Side& side = sides_[here.of];
      side.above += trials.size() == 1 && here.share > kStrangers;
      side.worst = std::max(side.worst, here.share);
      least_ = std::min(least_, here.share);
    }
  }

  void tell(std::size_t trials, bool turns, bool quick, Findings& findings) const {
    for (const auto& [of, side] : sides_)
      if (side.worst > kStrangers)
        findings.doubt(
            "processes that are not part of the race used {} or more of {} in the worst {} ({} of {} above "
            "{}{})",
            percent(side.worst), of, turns ? "turns of a contestant" : "trial", side.above,
            counted(trials, "trial"), percent(kStrangers), quick ? "; a quick race runs no round again" : "");
    if (least_ < -kStrangers)
      findings.warn(
          "server or client claims {} more CPU time than its CPUs were busy: it runs on others, or the "
          "kernel "
          "counts wrong",
          percent(-least_));
  }

  // Describes the greatest share: "3 % of the machine".
  std::string most() const {
    std::pair<double, std::string_view> most{0, "the machine"};
    for (const auto& [of, side] : sides_) most = std::max(most, {side.worst, of});
    return fmt::format("{} of {}", percent(most.first), most.second);
  }

 private:
  struct Side {
    double worst = 0;
    std::size_t above = 0;
  };
  std::map<std::string_view, Side> sides_;
  double least_ = 0;
};

}  // namespace

CheckResult check_books(const RaceResult& race, const CaseResult& one) {
  Findings findings(12, "books balance");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  StrangersSeen strangers;
  std::size_t trials = 0, late = 0, lossy = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    const std::vector<const Trial*> usable = usable_trials(*entry);
    for (const Trial* trial : usable) {
      ++trials;
      late += trial->late;
      lossy += trial->load->lossy();
      if (const std::string wrong = imbalance(*trial); !wrong.empty()) {
        findings.bar(answerable(*entry), fmt::format("round {}: {}", trial->round, wrong));
        break;
      }
      strangers.add({&trial, 1}, entry->in_process);
    }
    if (one.plan.load.turns && usable.size() > 1) strangers.add(usable, entry->in_process);
  }
  strangers.tell(trials, one.plan.load.turns, race.scenario.quick, findings);
  for (const Entry* entry : contestants_of(one))
    if (const auto usable = usable_trials(*entry);
        !usable.empty() && !usable.front()->server.cpu_unknown.empty())
      findings.warn("{}: the cost of a message is unknown, and not ranked: {}", entry->contestant.name,
                    usable.front()->server.cpu_unknown);
  if (late > 0)
    findings.warn("in {} the server's usage could not be read in time and is not known",
                  counted(late, "trial"));
  if (findings.verdict() == Verdict::pass && one.plan.files)
    findings.say("all files arrived in {}; other processes used at most {}", counted(trials, "trial"),
                 strangers.most());
  else if (findings.verdict() == Verdict::pass)
    findings.say("sent = verified + failed + {}in flight{} in {}; other processes used at most {}",
                 lossy > 0 ? "lost + " : "", lossy < trials ? " and bytes sent = bytes received" : "",
                 counted(trials, "trial"), strangers.most());
  return findings.take();
}

}  // namespace joust::race
