// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "engines/engine.hpp"
#include "measure/environment.hpp"
#include "measure/usage.hpp"
#include "net/socket_options.hpp"
#include "stats/comparison.hpp"

// The parts that several documents have in common. docs/result.schema.json describes every
// key.
namespace joust {

nlohmann::ordered_json to_json(const SocketFacts& facts);
nlohmann::ordered_json to_json(const Usage& usage);
nlohmann::ordered_json to_json(const Environment& environment);
// The bounds are null where the interval is not known.
nlohmann::ordered_json to_json(const stats::Ratio& ratio);
// Returns the document as text with a line end. Bytes that are not UTF-8, such as a peer's words or a path,
// are replaced.
std::string text_of(const nlohmann::ordered_json& document, int indent = -1);
nlohmann::ordered_json build_json();  // how this program was built

// Adds "engine", "threads", "wait" and "knobs" to `document`.
void add_engine(nlohmann::ordered_json& document, const Engine& engine, const EngineOptions& options);

// Returns the options of a protocol by name, without options that have neither a value nor a default.
nlohmann::ordered_json options_json(Settings options);

}  // namespace joust
