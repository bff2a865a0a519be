// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "race/model/result.hpp"

// Readers of the documents that children write. They throw nlohmann::json::exception for a key that is
// missing or wrong, unless a comment says otherwise.
namespace joust::race {

ChildFacts facts_from(const nlohmann::json& document);
Settings socket_from(const nlohmann::json& document);
std::map<std::string, std::uint64_t> counts_from(const nlohmann::json& object);

// Fills in the load's side of a trial from the document of `joust load --json`. Returns why the document
// cannot be read; nothing if it was.
std::optional<std::string> read_load(const std::string& text, Trial& trial);

}  // namespace joust::race
