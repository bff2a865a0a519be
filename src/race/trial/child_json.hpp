// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "race/model/result.hpp"

// Parsers for parts that the documents of both children have.
namespace joust::race {

Settings settings_from(const nlohmann::json& object);
BuildInfo build_from(const nlohmann::json& object);
std::map<std::string, std::uint64_t> counts_from(const nlohmann::json& object);

}  // namespace joust::race
