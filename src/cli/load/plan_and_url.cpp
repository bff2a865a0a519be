// SPDX-License-Identifier: MIT
#include "cli/load/plan_and_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/document.hpp"
#include "base/text.hpp"
#include "load/settings.hpp"

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

namespace {

struct Scheme {
  std::string_view begin;
  const char* protocol;
  bool secure;
};
constexpr std::array kSchemes{Scheme{"http://", "http", false}, Scheme{"https://", "http", true},
                              Scheme{"ws://", "websocket", false}, Scheme{"wss://", "websocket", true}};

// Schemes have no case (RFC 3986, 3.1). `lower` is in lower case.
bool begins_with(std::string_view text, std::string_view lower) {
  const auto same = [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one) == other;
  };
  return text.size() >= lower.size() && std::ranges::equal(text.substr(0, lower.size()), lower, same);
}

}  // namespace

std::expected<LoadUrl, std::string> parse_load_url(std::string_view text) {
  const auto* const scheme =
      std::ranges::find_if(kSchemes, [&](const Scheme& one) { return begins_with(text, one.begin); });
  if (scheme == kSchemes.end())
    return std::unexpected(fmt::format(
        "'{}' is no address such as http://127.0.0.1:8080/ or ws://127.0.0.1:8080/", printable(text)));
  std::string_view rest = text.substr(scheme->begin.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = rest.find_first_of("/?");
  LoadUrl url{.protocol = scheme->protocol,
              .host = std::string(rest.substr(0, end)),
              .secure = scheme->secure,
              .path = end == rest.npos ? "/" : std::string(rest.substr(end))};
  if (url.path.starts_with('?')) url.path.insert(0, "/");
  if (url.host.empty() || url.host.contains('@'))
    return std::unexpected(
        fmt::format("'{}' has no host, or a user before it, which is not supported", printable(text)));
  const std::size_t bracket = url.host.find(']'), colon = url.host.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  url.address = has_port ? url.host : url.host + (url.secure ? ":443" : ":80");
  return url;
}

}  // namespace joust
