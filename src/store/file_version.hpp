// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>

#include "store/storage.hpp"

namespace joust {

FileVersion version_of(int fd);  // throws std::system_error
FileVersion version_of(const struct stat& facts);

// Of a directory, and the same whatever is in it. Empty: the reason is in errno.
std::optional<FileVersion> identity_of_folder(int fd);

// The clock of the file systems' time stamps.
std::int64_t wall_clock_ns();

}  // namespace joust
