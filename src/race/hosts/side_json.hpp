// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/fields.hpp"
#include "hosts/agent.hpp"
#include "hosts/link.hpp"
#include "race/hosts/hosted_transfer.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/sides.hpp"

// The orders and reports of sides as messages between hosts. Readers throw nlohmann::json::exception for a
// key that is missing or wrong.

// Not for JSON itself, which the library may have looked at already.
template <typename T>
requires(!nlohmann::detail::is_basic_json<T>::value) struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& value) { to = value ? json(*value) : json(nullptr); }
  static void from_json(const json& from, std::optional<T>& value) {
    value = from.is_null() ? std::nullopt : std::optional<T>(from.get<T>());
  }
};

template <>
struct nlohmann::adl_serializer<joust::Duration> {
  static void to_json(json& to, const joust::Duration& time) { to = time.count(); }
  static void from_json(const json& from, joust::Duration& time) {
    time = joust::Duration(std::clamp<joust::Duration::rep>(
        from.get<joust::Duration::rep>(), -joust::kLongestUptime_ns, joust::kLongestUptime_ns));
  }
};

// A struct is an object of its members. Those that inherit some have a list below.
template <typename T>
requires(std::is_class_v<T>&& std::is_aggregate_v<T> && !std::ranges::range<T> &&
         !std::derived_from<T, joust::race::ChildFacts> &&
         !std::derived_from<T, joust::race::SideEnd>) struct nlohmann::adl_serializer<T> {
  static void to_json(json& to, const T& object) {
    to = json::object();
    joust::each_field(object,
                      [&](std::string_view name, const auto& member) { to[std::string(name)] = member; });
  }
  static void from_json(const json& from, T& object) {
    joust::each_field(
        object, [&](std::string_view name, auto& member) { from.at(std::string(name)).get_to(member); });
  }
};

namespace joust::race {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerResult, engine, wait, threads, knobs, socket, build, usage,
                                   cpu_unknown, ignores_ends, ignores_stop, connections_failed,
                                   bytes_received, bytes_sent, errors, missing, notes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerEnd, cpu_s, busiest_thread, scheduling, result)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadEnd, cpu_s, busiest_thread, scheduling, document)

// Returns the reply of an agent to a step.
template <typename Result>
nlohmann::json reply_of(const Step<Result>& step) {
  if (!step) return {{"failure", step.error()}};
  if constexpr (std::is_void_v<Result>)
    return {{"result", nullptr}};
  else
    return {{"result", *step}};
}

// Reads such a reply; a failure names the host. A reply that has not come, or that reports that the agent
// could not answer ("failed"), is a failure of the host.
template <typename Result>
Step<Result> step_of(const std::string& host, const std::expected<nlohmann::json, std::string>& reply) {
  const auto failed = [&](const std::string& why) {
    return std::unexpected(SideFailure{.what = "host " + host + ": " + why, .of_host = true});
  };
  try {
    if (const auto why = hosts::failure_in(reply)) return failed(*why);
    if (reply->contains("failure")) {
      auto failure = reply->at("failure").get<SideFailure>();
      failure.what += " (on host " + host + ")";
      return std::unexpected(std::move(failure));
    }
    if constexpr (std::is_void_v<Result>)
      return {};
    else
      return reply->at("result").get<Result>();
  } catch (const nlohmann::json::exception&) {
    return failed(hosts::kNotUnderstood);
  }
}

}  // namespace joust::race
