// SPDX-License-Identifier: MIT
#include "files/store/named_entry.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"

namespace joust {

std::expected<ReplacedBytes, int> NamedEntry::publish(int fd, bool synced) {
  if (!synced) return std::nullopt;
  if (fd >= 0 && retry_interrupted([&] { return ::fsync(fd); }) != 0) return std::unexpected(errno);
  if (const int error = sync_folder(fd); error != 0) return std::unexpected(error);
  return std::nullopt;
}

}  // namespace joust
