// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace joust::transfer {

// Describes what has the name of a file that is to be made, and what a user can do: "is a named pipe; ...".
// Empty for a regular file, a directory, or nothing. Follows no link. Any thread.
std::string obstacle_at(const std::filesystem::path& path);

}  // namespace joust::transfer
