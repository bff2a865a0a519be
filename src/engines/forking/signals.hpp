// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

namespace joust {

// Ends a system call of a child, and does nothing else.
inline constexpr int kInterruptChild = SIGURG;

// Sets the handling of signals in the child, which calls it with SignalsBlocked. A signal to the whole group
// of processes, such as that of Ctrl-C, is left to the parent. SIGPIPE stays blocked, for send_file().
void take_childs_signals();

}  // namespace joust
