// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace joust {

// What is added to the number of a signal that has killed a process, for an exit code, as shells do.
inline constexpr int kKilled = 128;

// Divides the program into two processes: the race goes on in a child, and this process guards it. Whichever
// of both is killed, the other one ends what the race has started and removes what it has written:
//
//   the race is killed       its contestants, daemons among them, become the guardian's children, and are
//   killed;
//                            the folders of the race are removed
//   the guardian is killed   the kernel asks the race to end at once (SIGQUIT)
//
// The race has a process group of its own, so that a signal to the whole group of the guardian does not reach
// it; the guardian passes signals on. Ctrl-\ (SIGQUIT) ends the race at once, and in order.
//
// Returns nothing in the child, and in the guardian, when all is over, the exit code: that of the race, or
// kKilled and the signal. To be called before there are threads, and before the race begins.
// Throws std::system_error.
std::optional<int> guard();

}  // namespace joust
