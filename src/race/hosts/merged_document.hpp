// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <span>
#include <string>

namespace joust::race {

// The result of one host: the document of `joust load --json`.
struct HostDocument {
  std::string host{}, text{};
};

// Returns one document of all hosts: the results are added (load/merging.hpp), and the facts about the
// program are those of the first one. The error names the host whose document cannot be read, or whose load
// is another one. REQUIRES: at least one document.
std::expected<std::string, std::string> merged_document(std::span<const HostDocument> hosts);

}  // namespace joust::race
