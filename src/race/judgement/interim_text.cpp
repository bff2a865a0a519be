// SPDX-License-Identifier: MIT
#include "race/judgement/interim_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/utilisation.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {

std::string interim_text(const CaseResult& one, std::optional<double> goal) {
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr || rounds_begun(one) == 0) return {};
  const RankedBy by = ranked_by(one);
  std::vector<std::string> parts;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || &entry == reference) continue;
    const stats::Ratio ratio = stats::compare(log_ratios(one, entry, *reference, by));
    if (ratio.rounds == 0) continue;
    std::string part = fmt::format("{} {}", in_list(entry.contestant.name), ratio_words(ratio.estimate, 2));
    if (ratio.interval.is_known())
      part += fmt::format(" ± {}",
                          spread_text(std::expm1(std::log(ratio.interval.high / ratio.interval.low) / 2)));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return {};
  if (goal) parts.push_back(fmt::format("goal {}", spread_text(*goal)));
  return fmt::format("to {}: {}", one.reference, join(parts));
}

std::vector<std::string> interim_warnings(const CaseResult& one, const CpuPlan& cpus) {
  std::vector<std::string> warnings;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || entry.trials.empty()) continue;
    const Trial& latest = entry.trials.back();
    if (const Disturbance worst = disturbance_of(latest, entry.in_process); worst.severity > 1)
      warnings.push_back(fmt::format("{} {}", entry.contestant.name, worst.what));
    const auto used = entry.in_process || entry.polls() ? std::nullopt : client_utilisation(cpus, latest);
    if (used && *used > kClientIsLimit)
      warnings.push_back(fmt::format("the client of {} is full ({})", entry.contestant.name, percent(*used)));
  }
  return warnings;
}

}  // namespace joust::race
