// SPDX-License-Identifier: MIT
#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/model/result.hpp"

namespace joust::race {

// The messages that were lost took no time of the server, and are in no latency: a contestant with loss
// cannot be compared with one without.
CheckResult check_loss(const RaceResult&, const CaseResult& one) {
  Findings findings(13, "nothing lost");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  std::uint64_t messages = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    const auto& loss = entry->summary.loss;
    if (!loss) continue;
    messages += loss->of;
    if (loss->lost > 0) findings.bar(answerable(*entry), lost_words(*loss), entry->contestant.name);
  }
  if (findings.quiet()) findings.say("of {} that could be lost every one came", counted(messages, "message"));
  return findings.take();
}

bool may_lose(const CaseResult& one) {
  for (const Entry* entry : entries_of_contestants(one))
    if (entry->summary.loss) return true;
  return false;
}

}  // namespace joust::race
