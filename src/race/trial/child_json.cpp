// SPDX-License-Identifier: MIT
#include "race/trial/child_json.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

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
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
  auto result = load_from(document);
  if (!result) return result.error();
  try {
    trial.program = program_from(document);
    trial.choices = choices_from(document);
    trial.client = facts_from(document);
  } catch (const std::runtime_error& error) {
    return fmt::format("the load's result cannot be read: {}", error.what());
  }
  trial.load = std::move(*result);
  return std::nullopt;
}

}  // namespace joust::race
