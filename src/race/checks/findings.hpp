// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "race/result.hpp"

namespace joust::race {

// Collects the findings of a check as sentences. The verdict is that of the worst finding.
class Findings {
 public:
  Findings(int id, std::string title) { result_.id = id, result_.title = std::move(title); }

  // Adds to the detail, without changing the verdict.
  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    sentences_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) {
    say(text, std::forward<Args>(args)...);
    if (result_.verdict == Verdict::pass) result_.verdict = Verdict::warn;
  }
  // Excludes this contestant from the ranking, for this reason; `entry` is the name of the entry at fault.
  void bar(const std::string& contestant, const std::string& reason) { bar(contestant, reason, contestant); }
  void bar(const std::string& contestant, const std::string& reason, const std::string& entry) {
    result_.bars.emplace(contestant, reason);
    say("{}: {}", entry, reason);
    result_.verdict = Verdict::refuse;
  }
  // Invalidates the whole measurement.
  template <typename... Args>
  void refuse(fmt::format_string<Args...> text, Args&&... args) {
    say(text, std::forward<Args>(args)...);
    result_.verdict = Verdict::refuse;
    result_.invalidates = true;
  }
  void at_least(const std::string& contestant) { result_.at_least.push_back(contestant); }

  bool quiet() const { return sentences_.empty(); }
  Verdict verdict() const { return result_.verdict; }

  CheckResult take() {
    result_.detail = join(sentences_, "; ");
    return std::move(result_);
  }

 private:
  CheckResult result_;
  std::vector<std::string> sentences_;
};

inline std::string percent(double fraction, int decimals = 0) {
  return fmt::format("{:.{}f} %", fraction * 100, decimals);
}

// Formats a spread as a percentage. Above 100 %, the number would show only that the noise is too large to
// distinguish anything.
inline std::string spread_text(double fraction, int decimals = 0) {
  return fraction > 1 ? "more than 100 %" : percent(fraction, decimals);
}

// The contestants with trials, without the reference's second entry and the ceilings.
inline std::vector<const Entry*> contestants_of(const CaseResult& one) {
  std::vector<const Entry*> all;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && entry.unavailable.empty()) all.push_back(&entry);
  return all;
}

// The contestants with trials and the reference's second entry, whose faults are charged to the contestant it
// repeats.
inline std::vector<const Entry*> entries_of_contestants(const CaseResult& one) {
  std::vector<const Entry*> all = contestants_of(one);
  for (const Entry& entry : one.entries)
    if (entry.kind == EntryKind::again && entry.unavailable.empty()) all.push_back(&entry);
  return all;
}

// Returns true if any contestant has a trial to check.
inline bool anything_measured(const CaseResult& one) {
  for (const Entry* entry : contestants_of(one))
    if (!usable_trials(*entry).empty()) return true;
  return false;
}

// The result of a check without data, in place of PASS.
inline CheckResult nothing_to_check(Findings findings) {
  findings.warn("nothing to check: no contestant has a usable trial");
  return findings.take();
}

// Returns the contestant that is charged with an entry's faults.
inline const std::string& answerable(const Entry& entry) {
  return entry.kind == EntryKind::again ? entry.repeats : entry.contestant.name;
}

}  // namespace joust::race
