// SPDX-License-Identifier: MIT
#include "cli/load/planned.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/document.hpp"
#include "base/text.hpp"
#include "load/plan_json.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLoadSchema = "joust-load/1";

template <class Value>
std::optional<Value> given_in(const Json& document, const char* key) {
  return document.contains(key) ? std::optional(document.at(key).get<Value>()) : std::nullopt;
}

Settings settings_in(const Json& document, const char* key) {
  return given_in<Settings>(document, key).value_or(Settings{});
}

// Throws nlohmann::json::exception for a key that is missing, or has another type.
StoredChoice choice_in(const Json& document) {
  const Json& socket = document.at("socket");
  return {.protocol = given_in<std::string>(document, "plugin").value_or(document.at("protocol")),
          .options = settings_in(document, "options"),
          .address = document.at("address"),
          .engine = document.at("engine"),
          .threads = document.at("threads"),
          .wait = document.at("wait"),
          .knobs = settings_in(document, "knobs"),
          .nodelay = given_in<bool>(socket, "nodelay"),
          .congestion = given_in<std::string>(socket, "congestion"),
          .send_buffer = given_in<std::uint64_t>(socket, "asked_send_buffer").value_or(0),
          .receive_buffer = given_in<std::uint64_t>(socket, "asked_receive_buffer").value_or(0)};
}

// Returns why the document is another one than the result of a load.
std::string objection_to_result(const Json& document) {
  const Json schema = document.value("schema", Json(kLoadSchema));
  if (schema != kLoadSchema)
    return fmt::format("its schema is {}, and only a result of 'load --json' ({}) has a plan",
                       printable(schema.dump()), kLoadSchema);
  const Json messages = document.value("messages", Json());
  if (messages.is_object() && messages.contains("beside"))
    return "it is of a load in the turns of a race (--turns), which has no end of its own to be repeated";
  return {};
}

std::expected<PlannedLoad, std::string> planned_in(const std::string& text) {
  auto plan = plan_from(text);
  const Json document = documents::parsed(text);
  if (document.is_object())
    if (const std::string objection = objection_to_result(document); !objection.empty())
      return std::unexpected(objection);
  if (!plan) return std::unexpected(plan.error());
  PlannedLoad load{.plan = *plan};
  try {
    if (document.contains("plan") && document.contains("protocol")) load.choice = choice_in(document);
  } catch (const nlohmann::json::exception& wrong) {
    return std::unexpected(fmt::format("it is no whole result of a load: {}", wrong.what()));
  }
  return load;
}

}  // namespace

std::expected<PlannedLoad, std::string> read_planned(const std::string& given) {
  if (given.starts_with('{')) return planned_in(given);
  errno = 0;
  std::ifstream file(given);
  std::stringstream text;
  if (!file || (!(text << file.rdbuf()) && errno != 0))  // an empty file is no JSON
    return std::unexpected(fmt::format("{}: {}", given, std::strerror(errno == 0 ? EIO : errno)));
  auto load = planned_in(text.str());
  if (!load) return std::unexpected(fmt::format("{}: {}", given, load.error()));
  return load;
}

}  // namespace joust
