// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// Gives a file another name in the same directory. Where a file of that name exists, it is replaced or,
// without `replaces`, the call fails with EEXIST. Fails with ENOSYS or EINVAL where the system or the file
// system cannot keep from replacing.
int rename_in(int directory, const char* from, const char* to, bool replaces);

}  // namespace joust
