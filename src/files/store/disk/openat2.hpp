// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// openat2() that stays beneath `directory` and follows no symbolic link. Linux only: elsewhere it fails with
// ENOSYS, as on a kernel without the call.
int open_resolved(int directory, const char* name, int flags);

}  // namespace joust
