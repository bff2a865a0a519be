// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace joust {

// The number that is added to that of a signal that has killed a process, for an exit code, as in shells.
inline constexpr int kKilled = 128;

// Divides the program into two processes: the race goes on in a child, and this process guards it. If one of
// them is killed, the other one ends the processes that the race has started and removes its files:
//
//   the race is killed       its contestants, daemons among them, become the guardian's children, and are
//   killed;
//                            the folders of the race are removed
//   the guardian is killed   the kernel asks the race to end at once (SIGQUIT)
//
// The race has a process group of its own, so that a signal to the whole group of the guardian does not reach
// it; the guardian passes signals on. Ctrl-\ (SIGQUIT) ends the race at once, and in order.
//
// Returns nothing in the child. In the guardian, returns the exit code when all has ended: that of the race,
// or kKilled and the signal. To be called before other threads exist, and before the race begins. Throws
// std::system_error.
std::optional<int> guard();

}  // namespace joust
