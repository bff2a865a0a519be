// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hosts/agent.hpp"
#include "hosts/clock_offset.hpp"
#include "race/hosts/host_report.hpp"
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

namespace joust {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MachineCpu, user_s, nice_s, system_s, idle_s, iowait_s, irq_s, softirq_s,
                                   steal_s, clock_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Throttling, times, time_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClockRates, least_mhz, most_mhz)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ThreadGroup, cpus, nice, policy, threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Usage, user_s, system_s, voluntary_switches, involuntary_switches,
                                   peak_memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkInterface, name, driver, mtu_bytes, speed_mbit_per_s, offloads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Environment::Item, name, value, must_agree)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Environment, items)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CpuPlace, cpu, package, core, capacity)

}  // namespace joust

namespace joust::race {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PinnedCpus, all, server, client)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Surroundings, machine, pinned, server_cpus, client_cpus, throttled, clock)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChildCommand, program, words, cpus, foreign, ready)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommandValues, address, port, from, into, last, bytes, joust)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerOrder, command, values, time_to_start, time_to_stop, ignores_stop,
                                   forks_for, may_start_others, shows_scheduling, watched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadOrder, command, time_to_connect, time_to_stop, time_beyond_turn,
                                   time_of_counted_turn, shows_scheduling, watched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TurnSize, time, messages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SideFailure, what, last_words, refused, not_found, of_host, document)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BuildInfo, type, sanitizers, version)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerResult, engine, wait, threads, knobs, socket, build, usage,
                                   cpu_unknown, ignores_ends, ignores_stop, connections_failed,
                                   bytes_received, bytes_sent, errors, missing, notes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SideTurn, cpu_s, around)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadTurn, window_s, turn_s, verified, messages, failed, latency_sum_ns,
                                   began_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerStart, address, result)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerEnd, cpu_s, busiest_thread, scheduling, result)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkPlace, fabric, address, towards)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostReport, machine, boot_id, address, network, round_trip, environment,
                                   cpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FilePlan, count, bytes, on)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TransferOrder, command, values, patience, watched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TransferEnd, took_s, usage, around)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServedTransfer, usage, around)
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
