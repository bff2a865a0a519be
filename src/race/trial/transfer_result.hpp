// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/time.hpp"
#include "race/model/files.hpp"
#include "race/model/result.hpp"

namespace joust::race {

// Returns the path of this program, as a word of a shell command.
std::string own_program();

// Records a transfer that took so long, with the usage of its command. `wrong`: what is wrong with the files
// that have arrived; empty if nothing is. A wrong file makes the whole transfer a failed one.
void note_transfer(const FilePlan& files, Duration took, const Usage& usage, const std::string& wrong,
                   Trial& trial);

}  // namespace joust::race
