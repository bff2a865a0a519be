// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// Gives a file another name in the same directory. An existing file of that name is replaced; without
// `replaces` the call fails with EEXIST instead. Fails with ENOSYS or EINVAL where the system or the file
// system has no rename that never replaces.
int rename_in(int directory, const char* from, const char* to, bool replaces);

}  // namespace joust
