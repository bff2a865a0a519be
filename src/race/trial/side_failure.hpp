// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace joust::race {

// Why a side of a trial could not go on. The trial has failed.
struct SideFailure {
  std::string what{};
  std::vector<std::string> last_words{};  // the end of the standard error of the process at fault
  bool refused = false;                   // a process of joust reported wrong usage
  bool not_found = false;                 // the program of a command is missing, or a part that it needs
  bool of_host = false;                   // a host was lost (Trial::host_lost)
  std::string document{};                 // the result of a load that has ended early; may be empty
};

template <typename Result = void>
using Step = std::expected<Result, SideFailure>;

struct Trial;

// Records why the trial has failed. Returns false.
bool fail(SideFailure failure, Trial& trial);
// Returns whether the step succeeded; records its failure otherwise.
template <typename Result>
bool succeeded(Step<Result>& step, Trial& trial) {
  return step.has_value() || fail(std::move(step.error()), trial);
}

}  // namespace joust::race
