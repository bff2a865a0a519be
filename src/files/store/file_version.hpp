// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "files/store/storage.hpp"

namespace joust {

FileVersion version_of(int fd);  // throws std::system_error
FileVersion version_of(const struct stat& facts);

// Returns whether this is the time of a version whose real time does not fit: it is before 1678 or after
// 2262.
bool is_beyond(std::int64_t time_ns);
inline constexpr std::string_view kBeyond =
    "was changed before 1678 or after 2262, and such a time cannot be transferred; give it another one "
    "(touch)";

// Returns the identity of a directory, which does not depend on its entries. Empty on failure, with the
// reason in errno.
std::optional<FileVersion> identity_of_folder(int fd);

// The clock of the file systems' time stamps.
std::int64_t wall_clock_ns();

}  // namespace joust
