// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "race/model/result.hpp"

namespace joust {

// Makes the last words of a race's text from its judged result.
using LastWords = std::function<std::string(const race::RaceResult&)>;

// Runs `race` with these words behind it, as if they had been typed. Returns its exit code. Throws what the
// sub-command throws.
int run_race(const Program& program, std::vector<std::string> words, LastWords last_words);

}  // namespace joust
