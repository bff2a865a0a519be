// SPDX-License-Identifier: MIT
#include "cli/file_tool/remote_path.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "cli/common/command.hpp"
#include "net/address.hpp"

namespace joust {
namespace {

constexpr std::string_view kUnix = "unix:";

// Refuses a path behind a socket after a single slash. No file is below a socket, so the path is meant for
// its server.
void refuse_single_slash(const std::string& text) {
  std::error_code none;
  for (std::size_t end = text.rfind('/'); end != std::string::npos && end > kUnix.size();
       end = text.rfind('/', end - 1))
    if (const std::string socket = text.substr(0, end);
        std::filesystem::is_socket(socket.substr(kUnix.size()), none))
      throw UsageError(fmt::format("'{0}': {1} is the socket; // is before what is behind it: {1}//{2}",
                                   printable(text), printable(socket), printable(text.substr(end + 1))));
}

}  // namespace

// Splits the text. A name has no empty part, but a socket's path may have one, so the last "//" separates.
RemotePath split_remote(const std::string& text) {
  if (const std::size_t scheme = text.find("://"); scheme != std::string::npos && !text.starts_with(kUnix))
    throw UsageError(fmt::format("'{}': is a URL; without {}:// it is the address of a 'receive': {}",
                                 printable(text), printable(text.substr(0, scheme)),
                                 printable(text.substr(scheme + 3))));
  const bool is_path = text.starts_with(kUnix);
  const std::size_t end = is_path ? text.rfind("//") : text.find('/');
  if (is_path && end == std::string::npos) refuse_single_slash(text);
  if (end == std::string::npos || end == kUnix.size()) return {text, "", true};
  std::string path = text.substr(end + (is_path ? 2 : 1));
  const bool is_folder = path.empty() || path.ends_with('/');
  while (path.ends_with('/')) path.pop_back();
  return {text.substr(0, end), path, is_folder};
}

bool is_remote(const std::string& text) {
  std::error_code none;
  return (text.starts_with(kUnix) || !text.contains("://")) && !std::filesystem::exists(text, none) &&
         objection_to_address(split_remote(text).address).empty();
}

std::string_view before_path(std::string_view address) {
  return address.starts_with(kUnix) ? "//" : "/";
}

}  // namespace joust
