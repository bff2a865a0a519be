// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

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
