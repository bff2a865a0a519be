// SPDX-License-Identifier: MIT
#include "race/trial/child_json.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error_words.hpp"
#include "load/result_json.hpp"

namespace joust::race {
namespace {

using nlohmann::json;

Settings settings_from(const json& object) {
  Settings settings;
  for (const auto& [key, value] : object.items())
    settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return settings;
}

BuildInfo build_from(const json& object) {
  return {.type = object.value("type", ""),
          .sanitizers = object.value("sanitizers", ""),
          .version = object.value("version", "")};
}

}  // namespace

ChildFacts facts_from(const json& document) {
  return {.engine = document.at("engine"),
          .wait = document.value("wait", ""),
          .threads = document.value("threads", std::uint64_t{0}),
          .knobs = settings_from(document.value("knobs", json::object())),
          .socket = socket_from(document),
          .build = build_from(document.value("build", json::object()))};
}

Settings socket_from(const json& document) {
  return settings_from(document.value("socket", json::object()));
}

std::map<std::string, std::uint64_t> counts_from(const json& object) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [key, value] : object.items()) counts[key] = value.get<std::uint64_t>();
  return counts;
}

std::optional<std::string> read_load(const std::string& text, Trial& trial) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text, nullptr, false);
  auto result = load_from(document);
  if (!result) return result.error();
  try {
    trial.client = facts_from(document);
  } catch (const nlohmann::json::exception& error) {
    return fmt::format("the load's result cannot be read: {}", words_of(error));
  }
  trial.load = std::move(*result);
  for (const char* key : {"histogram_ns", "uncorrected_histogram_ns", "send_lateness_histogram_ns"})
    document.erase(key);
  trial.load_document = document.dump();
  return std::nullopt;
}

}  // namespace joust::race
