// SPDX-License-Identifier: MIT
//
// The rows of the settings. A new setting of a race needs a row, a member of Scenario, and the code that uses
// it.
#include "race/scenario/race_settings.hpp"

#include <array>
#include <limits>

#include "race/model/scenario.hpp"
#include "race/set_up/validity.hpp"

namespace joust::race {
namespace {

using namespace std::chrono_literals;
using S = Scenario;

constexpr std::uint64_t ns(Duration time) {
  return static_cast<std::uint64_t>(time.count());
}
constexpr std::uint64_t kInstant = ns(1ms), kMostBuffer = 1ULL << 30, kMostBacklog = 1'000'000;

constexpr std::string_view kContestants = "Contestants", kLoad = "Load", kRace = "Race",
                           kThresholds = "Thresholds";

const std::array kRows{
    setting<&S::title>("title", {}, "the first line of the report"),
    setting<&S::description>("description", {}, "for readers of the file"),
    setting<&S::rounds>("rounds",
                        {.least = 1, .most = kMostRounds, .standard = "until precise", .heading = kRace},
                        "how often every contestant is measured, in fresh processes"),
    setting<&S::time>(
        "time", {.least = kInstant, .heading = kRace},
        "a race without --rounds ends within this time; its cases share it; the first round is always "
        "finished, however long it takes"),
    setting<&S::precision>(
        "precision", {.unit = Unit::percent, .heading = kRace},
        "the race also ends when half of each interval is below this; a case that has reached it is not run "
        "again. Contestants whose ratio is certainly within it, or within --least-difference, are equal"),
    setting<&S::least_difference>(
        "least_difference", {.unit = Unit::percent, .heading = kRace},
        "the smallest difference that counts: contestants that differ by less share their place"),
    setting<&S::allow_unranked>(
        "allow_unranked", {.heading = kRace, .placed = true},
        "a contestant that is not ranked, or a race that tells nothing, does not end with exit code 3"),
    setting<&S::turns>("turns",
                       {.standard = "on, where the load allows it", .on_off = true, .heading = kRace},
                       "contestants live side by side and take turns"),
    setting<&S::turn>("turn",
                      {.least = kInstant,
                       .most = ns(kLongestTurn),
                       .standard = "10 latencies, at least 20ms; with -R no turns near the capacity",
                       .heading = kRace},
                      "length of a turn; not with -m"),
    setting<&S::seed>("seed", {.most = std::numeric_limits<std::int64_t>::max(), .heading = kRace},
                      "of the random order, and of the arrivals of its loads; printed with the result"),
    setting<&S::reference>(
        "reference", {.value = "NAME", .standard = "the first", .heading = kContestants, .placed = true},
        "whom the others are compared with"),
    setting<&S::limits, &LimitPlan::connect_timeout>(
        "connect_timeout", {.least = kInstant, .standard = "10s", .table = "limits"},
        "give a connection up that takes longer"),
    setting<&S::limits, &LimitPlan::request_timeout>(
        "request_timeout",
        {.least = kInstant,
         .standard = "5s; 1s where messages may be lost",
         .heading = kLoad,
         .table = "limits"},
        "give a request up that takes longer: the contestant has failed"),
    setting<&S::limits, &LimitPlan::idle_timeout>("idle_timeout",
                                                  {.least = kInstant, .standard = "60s", .table = "limits"},
                                                  "close a connection on which nothing moves"),
    setting<&S::limits, &LimitPlan::trial_timeout>("trial_timeout",
                                                   {.least = kInstant,
                                                    .standard = "what its load needs; 2m for -m",
                                                    .heading = kRace,
                                                    .table = "limits"},
                                                   "kill a trial that takes longer: it has failed"),
    setting<&S::cpus, &CpuPlan::server>("server_cpus",
                                        {.value = "LIST",
                                         .standard = "chosen",
                                         .heading = kContestants,
                                         .table = "cpus",
                                         .file_key = "server",
                                         .objection = check_cpus},
                                        "CPUs of servers: 0, 0-1,3 or any"),
    setting<&S::cpus, &CpuPlan::client>("client_cpus",
                                        {.value = "LIST",
                                         .standard = "others than the servers'",
                                         .heading = kContestants,
                                         .table = "cpus",
                                         .file_key = "client",
                                         .objection = check_cpus},
                                        "CPUs of clients"),
    setting<&S::thresholds, &Thresholds::below>(
        "fail_below", {.unit = Unit::ratio, .heading = kThresholds, .in_file = false},
        "exit code 99 if the throughput of a contestant is below this ratio to the reference (0.97), with "
        "its whole interval"),
    setting<&S::thresholds, &Thresholds::cost_above>(
        "fail_cost_above", {.unit = Unit::ratio, .heading = kThresholds, .in_file = false},
        "exit code 99 if its CPU time per message is above this ratio to the reference (1.03), likewise"),
    setting<&S::thresholds, &Thresholds::undecided>(
        "undecided", {.heading = kThresholds, .in_file = false},
        "a threshold within the interval, or a ratio that is not known: ok is no failure, fail is exit "
        "code 99"),
};

constexpr std::string_view kOfKernel = "the kernel's choice";

const std::array kSocketRows{
    setting<&SocketPlan::nodelay>("nodelay", {.standard = "true", .on_off = true},
                                  "send small messages at once (TCP_NODELAY)"),
    setting<&SocketPlan::congestion>("congestion", {.standard = "cubic"},
                                     "congestion control; empty: the machine's default"),
    setting<&SocketPlan::send_buffer_bytes>(
        "send_buffer", {.least = 1, .most = kMostBuffer, .unit = Unit::bytes, .standard = kOfKernel},
        "SO_SNDBUF"),
    setting<&SocketPlan::receive_buffer_bytes>(
        "receive_buffer", {.least = 1, .most = kMostBuffer, .unit = Unit::bytes, .standard = kOfKernel},
        "SO_RCVBUF"),
    setting<&SocketPlan::backlog>("backlog", {.least = 1, .most = kMostBacklog, .standard = "4096"},
                                  "connections that wait for the server's accept"),
};

}  // namespace

SettingRows race_settings() {
  return kRows;
}

SettingRows socket_settings() {
  return kSocketRows;
}

}  // namespace joust::race
