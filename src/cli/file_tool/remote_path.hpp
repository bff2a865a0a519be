// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// The parts of "HOST:PORT/PATH". The last "//" ends a socket's path: "unix:/run/files.sock//PATH".
struct RemotePath {
  std::string address;
  std::string path;        // without slashes at its end
  bool is_folder = false;  // the text had a slash at its end, or the path is empty
};
// Throws UsageError for a URL, and for a path below a socket that has no "//" before it.
RemotePath split_remote(const std::string& text);
// Returns whether this is the address of a server, with or without a path, and no existing local file.
bool is_remote(const std::string& text);
// Returns the separator of this address and a path: "/", or "//".
std::string_view before_path(std::string_view address);

}  // namespace joust
