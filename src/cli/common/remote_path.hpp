// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// "HOST:PORT/PATH" taken apart. The last "//" ends a socket's path: "unix:/run/files.sock//PATH".
struct RemotePath {
  std::string address;
  std::string path;        // without slashes at its end
  bool is_folder = false;  // it had one, or is empty
};
// Throws UsageError for a URL, and for a path below a socket that has no "//" before it.
RemotePath split_remote(const std::string& text);
// Whether this is the address of a server, with or without a path, and no file that is here.
bool is_remote(const std::string& text);
// What parts the path from this address: "/", or "//".
std::string_view before_path(std::string_view address);

}  // namespace joust
