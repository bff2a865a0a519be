// SPDX-License-Identifier: MIT
#include "race/judgement/interim_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/words.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {

std::string interim_text(const CaseResult& one) {
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr || rounds_begun(one) == 0) return {};
  const RankedBy by = ranked_by(one);
  const stats::Rounds base = by_round(one, *reference, by.figure);
  std::vector<std::string> parts;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || &entry == reference) continue;
    const stats::Ratio ratio = stats::compare(by_round(one, entry, by.figure), base);
    if (ratio.rounds == 0) continue;
    std::string part = fmt::format("{} {}", in_list(entry.contestant.name), ratio_words(ratio.estimate, 2));
    if (ratio.interval.is_known())
      part += fmt::format(" ± {}",
                          spread_text(std::expm1(std::log(ratio.interval.high / ratio.interval.low) / 2)));
    parts.push_back(std::move(part));
  }
  return parts.empty() ? "" : fmt::format("to {}: {}", one.reference, join(parts));
}

}  // namespace joust::race
