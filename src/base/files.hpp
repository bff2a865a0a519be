// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

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

// Returns the content of a file that is the value of an option, at most 16 MiB. An error says why it cannot
// be read.
std::expected<std::string, std::string> value_of_file(const std::string& path);

// Returns the directory of temporary files: TMPDIR, or /tmp where that is unset or empty.
inline std::string temporary_directory() {
  const char* const given = std::getenv("TMPDIR");
  return given == nullptr || *given == '\0' ? "/tmp" : given;
}

// Returns the mode that a new file would have, which mkstemp() does not give it. It is the process's, so no
// other thread may make a file meanwhile.
inline mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Returns why dlopen(3) may not have this file: it is an ELF file that ends before the segments or the table
// of sections that its header names. The loader would map what is missing, and the first access to it ends
// the program by SIGBUS. Empty for all other files, also for those that cannot be read: dlopen() says what is
// wrong with them.
std::string missing_of_library(const std::string& path);

// Returns whether the name of a protocol is the path of a plug-in: it has a '/', like the path of a program
// for a shell. No other name is ever looked for in files.
inline bool is_plugin_path(std::string_view name) {
  return name.contains('/');
}

// Returns, for an unknown name that was probably meant as the file of a plug-in, how to write it. Otherwise
// empty.
inline std::string plugin_hint(const std::string& name) {
  const bool is_library = name.ends_with(".so") || name.ends_with(".dylib");
  return is_library ? "; a plug-in is named by a path with a '/': ./" + name : "";
}

}  // namespace joust
