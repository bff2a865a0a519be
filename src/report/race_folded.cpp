// SPDX-License-Identifier: MIT
#include "report/race_folded.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/text.hpp"
#include "report/race_table.hpp"

namespace joust::report {
namespace {

using race::CaseResult;
using race::CheckResult;
using race::Verdict;

constexpr std::size_t kMostUnfolded = 6;
constexpr std::size_t kFoldIndent = 9;

std::string line(const char* word, Paint paint, const std::string& text, const Terminal& terminal) {
  return fmt::format("  {} {}\n", painted(left(word, 6), paint, terminal),
                     wrapped(text, kFoldIndent, terminal.columns));
}

std::string refusals_of(const CaseResult& one) {
  std::vector<std::string> refusals;
  for (const CheckResult& check : one.checks)
    if (check.verdict == Verdict::refuse)
      refusals.push_back(fmt::format("{} {}: {}", check.id, check.title, check.detail));
  return join(refusals, "; ");
}

// Returns the warnings by the number of the check: its title, and the values at which it warned.
std::map<int, std::pair<std::string, std::vector<std::string>>> warnings_of(const Curve& curve) {
  std::map<int, std::pair<std::string, std::vector<std::string>>> warnings;
  for (const CaseResult* one : curve)
    for (const CheckResult& check : one->checks) {
      if (check.verdict != Verdict::warn) continue;
      auto& [title, values] = warnings[check.id];
      title = check.title;
      values.push_back(value_text(one->plan));
    }
  return warnings;
}

}  // namespace

bool is_folded(const Curve& curve) {
  return curve.size() > kMostUnfolded;
}

std::set<const CaseResult*> folded_cases(const race::RaceResult& race) {
  std::set<const CaseResult*> folded;
  for (const Curve& curve : curves_of(race))
    if (is_folded(curve)) folded.insert(curve.begin(), curve.end());
  return folded;
}

std::string folded_head(const Curve& curve, const Terminal& terminal) {
  const std::string text =
      fmt::format("{} points, the first: {}", curve.size(), load_text(curve.front()->plan));
  return painted(wrapped(text, 0, terminal.columns), Paint::dim, terminal) + "\n\n";
}

std::string folded_checks(const Curve& curve, const Terminal& terminal) {
  std::string text;
  for (const CaseResult* one : curve)
    if (const std::string refusals = refusals_of(*one); !refusals.empty())
      text += line("REFUSE", Paint::red, fmt::format("{}: {}", value_text(one->plan), refusals), terminal);
  for (const auto& [id, warned] : warnings_of(curve)) {
    const auto& [title, values] = warned;
    const std::string where = values.size() == curve.size() ? "at every point" : "at " + join(values, " ");
    text += line("WARN", Paint::yellow, fmt::format("{} {}: {}", id, title, where), terminal);
  }
  if (text.empty()) text = line("PASS", Paint::green, "every check of every point", terminal);
  const std::string more = "    the latencies, checks and verdict of every point are in the result of --json";
  return text + painted(wrapped(more, 4, terminal.columns), Paint::dim, terminal) + "\n\n";
}

}  // namespace joust::report
