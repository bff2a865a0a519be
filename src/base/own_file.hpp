// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace joust {

// Returns a file or folder that belongs to this program: `installed`, relative to the folder above that of
// the program; or else, if the program itself lies where joust was built, `built`. Empty if neither exists. A
// program that was installed never looks where it was built: its users need not trust who may write there.
// Nor does it take an `installed` file that another user may have put there, because the folder above that of
// a copied program may be one for all, such as /tmp: the file and its folder belong to root, to this user or
// to the owner of the program, and not everybody may write to them. Where a system does not tell a program
// its place (it has no /proc), `built` is all that is known.
std::filesystem::path own_file(const char* installed, const char* built);
// Returns where own_file() has looked in vain: "/usr/lib/joust/joust_qt.so is not there, and this program is
// not in /tmp/joust/build/release, where it was built".
std::string why_no_own_file(const char* installed);

}  // namespace joust
