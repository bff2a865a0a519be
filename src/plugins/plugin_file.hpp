// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "joust/protocol.hpp"

namespace joust {

// Loads the plug-in in a file and returns its protocol, which lives as long as the process: a plug-in is
// never unloaded. Its name is that of the table with a part of the file's digest, "keyvalue@09af2b41c77d", so
// that results of different plug-ins are never taken for those of one. Loading a file again returns the same.
// An error names the file and the remedy. Any thread.
std::expected<const Protocol*, std::string> load_plugin(const std::string& file);

// Returns the protocols of the plug-ins loaded so far. Any thread.
std::vector<const Protocol*> loaded_plugins();

}  // namespace joust
