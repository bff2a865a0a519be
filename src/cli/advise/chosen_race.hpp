// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/advise/question.hpp"
#include "cli/common/command.hpp"

namespace joust::advise {

// A race that answers a question.
struct ChosenRace {
  std::vector<std::string> words{};    // behind `joust race`
  std::vector<std::string> remarks{};  // what the race leaves out, and why
};

// Chooses engines and load. `cores`: those that this process may use. Throws UsageError for a question that
// no race answers, with what to ask in its place.
ChosenRace race_for(const Question& question, const Program& program, std::size_t cores);

}  // namespace joust::advise
