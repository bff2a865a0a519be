// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "race/model/result.hpp"

// The checks of a race: small pure functions of the recorded data. Each checks one case.
namespace joust::race {

// The noise that hides relevant differences, as a fraction: checks 4, 8 and 9 warn above it.
inline constexpr double kCoarse = 0.10;

// Returns whether any contestant of the case has a lossy delivery.
bool may_lose(const CaseResult& one);
// Returns whether figures are levels of quiet turns, which leave out disturbances.
bool has_quiet_turns(const CaseResult& one);

// A reason that limits the answer of a race. Each check looks for one of them.
enum class Reason : std::uint8_t {
  machine,  // others use it
  load,     // the client was the limit, or late
  replies,  // wrong or lost ones
  rounds,   // too few, or unlike each other
  set_up,   // contestants or machines that cannot be compared
};

// A check and its place.
struct Check {
  // Checks that may bar contestants from the ranking run before it; the others judge the figures that are
  // left.
  enum class When : std::uint8_t { before, after };

  int id;
  Reason reason;
  When when;  // the ranking
  CheckResult (*look)(const RaceResult& race, const CaseResult& one);
  bool (*applies)(const CaseResult& one);  // null: to each case
  std::string_view remedy;                 // what to do where it has not passed, for people
};

std::span<const Check> checks();            // by their ids
const Check* find_check(std::uint64_t id);  // null if there is none

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
    result_.warnings.push_back(sentences_.back());
    if (result_.verdict == Verdict::pass) result_.verdict = Verdict::warn;
  }
  // Warns of what the one sentence tells that all checks with this reason share (judgement/causes.cpp).
  template <typename... Args>
  void doubt(fmt::format_string<Args...> text, Args&&... args) {
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
  findings.doubt("nothing to check: no contestant has a usable trial");
  return findings.take();
}

}  // namespace joust::race
