// SPDX-License-Identifier: MIT
#include "base/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/words.hpp"

namespace joust {
namespace {

// Returns the edit distance. A swap of neighbours is one edit, because it is the most frequent typing error.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last(b.size() + 1), row(last), next(last);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], last[j - 2] + 1);
    }
    std::swap(last, row);
    std::swap(row, next);
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kTelling = 3;  // letters of a beginning
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() >= kTelling && std::ranges::count_if(candidates, begins) == 1)
    return *std::ranges::find_if(candidates, begins);
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Two changes make any short word of another, and one change one of two letters: `no` means no `on`.
    constexpr std::size_t kShort = 4, kTiny = 2;
    const std::size_t distance = edit_distance(word, candidate);
    const std::size_t size = std::max(word.size(), candidate.size());
    const bool too_short = (distance > 1 && size <= kShort) || (distance > 0 && size <= kTiny);
    if (distance < least && !too_short) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed) {
  std::string text = fmt::format("{}; allowed: {}", problem, allowed.empty() ? "nothing" : join(allowed));
  if (const std::string meant = nearest(word, allowed); !meant.empty() && meant != word)
    text += fmt::format("; did you mean '{}'?", meant);
  return text;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? fmt::format("there are: {}", join(candidates))
                      : fmt::format("did you mean '{}'?", near);
}

}  // namespace joust
