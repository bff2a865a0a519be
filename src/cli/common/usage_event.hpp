// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// Writes one JSON line to the standard output: what this process has used so far, and when. Async-signal-safe:
// it takes no lock and no memory, and may interrupt whatever it likes.
void write_usage_event() noexcept;

}  // namespace joust
