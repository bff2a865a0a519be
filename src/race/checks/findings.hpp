// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "race/model/entries.hpp"
#include "race/model/result.hpp"

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
  void limit_unknown(const std::string& contestant) { result_.limit_unknown.push_back(contestant); }

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

// The result of a check without data, in place of PASS.
inline CheckResult nothing_to_check(Findings findings) {
  findings.warn("nothing to check: no contestant has a usable trial");
  return findings.take();
}

}  // namespace joust::race
