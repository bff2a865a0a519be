// SPDX-License-Identifier: MIT
//
// The rows of the settings. A new setting of a load needs a row, a member of LoadPlan, and the code that uses
// it.
#include <array>
#include <limits>
#include <optional>

#include "load/settings.hpp"

namespace joust {
namespace {

using namespace std::chrono_literals;
using P = LoadPlan;

constexpr std::uint64_t kMostWhole = 1'000'000'000, kLongestText = 4096;

constexpr std::uint64_t ns(Duration time) {
  return static_cast<std::uint64_t>(time.count());
}
constexpr std::uint64_t kInstant = ns(1ms), kHour = ns(1h), kDay = ns(24h);

// A number of messages replaces the time, and a time replaces the number.
std::optional<Duration> get_duration(const LoadPlan& plan) {
  return plan.window();
}
void set_duration(LoadPlan& plan, const std::optional<Duration>& time) {
  if (!time) return;
  plan.duration = *time;
  plan.messages.reset();
}

DurationRange get_backoff(const LoadPlan& plan) {
  return {plan.backoff_least, plan.backoff_most};
}
void set_backoff(LoadPlan& plan, const DurationRange& range) {
  plan.backoff_least = range.least;
  plan.backoff_most = range.most;
}

constexpr std::string_view kNeedsSchedule =
    "a rate or an interval: without a schedule each reply is followed by the next message";

const std::array kRows{
    setting<&P::connections>("connections", {.letter = "c", .least = 1, .most = 1'000'000},
                             "connections, open at the same time"),
    setting<&P::messages>("messages",
                          {.letter = "m",
                           .least = 1,
                           .most = kMostWhole,
                           .excludes = "duration",
                           .why_excluded = "one of them ends the load"},
                          "messages of each connection; ends the load, in place of a time"),
    setting<&P::messages_per_connection>(
        "messages_per_connection", {.least = 1, .most = kMostWhole, .standard = "connections last"},
        "end a connection after so many replies, and dial another one in its place at once: short "
        "connections; the wait for the new one, with handshakes and last words, counts as latency"),
    setting_by<get_duration, set_duration>(
        "duration",
        {.letter = "d",
         .least = kInstant,
         .most = kDay,
         .in_race =
             "of each trial; without --rounds it is shortened where fewer than 12 rounds would fit into "
             "--time"},
        "time to measure; ends the load"),
    setting<&P::warmup>("warmup",
                        {.letter = "w",
                         .most = kDay,
                         .in_race = "unless it is given, at most 100ms where --time ends the race"},
                        "the same traffic before, not measured"),
    setting<&P::interval>(
        "interval", {.letter = "i", .most = kDay},
        "closed schedule: time from one message of a connection to the next; with all slots (--depth) in "
        "use the next one is moved back, so a server that stops delays few messages, and few delays are "
        "counted: see -R"),
    setting<&P::rate_per_s>(
        "rate",
        {.letter = "R",
         .unit = Unit::per_s,
         .standard = "a closed loop",
         .in_race = "contestants are ranked by latency",
         .excludes = "interval",
         .why_excluded = "a rate is the open loop, an interval the closed schedule"},
        "open loop: messages a second, of all connections together; latency counts from the time at "
        "which each was due, whatever the server does; they are due at random (--arrivals)"),
    setting<&P::arrivals>(
        "arrivals",
        {.standard = "poisson; constant with --phase together",
         .has_meaning = when<&P::open_loop>,
         .needs = "a rate: without one no message has a time to arrive at"},
        "with -R, the gaps between messages: those of a Poisson process, as of users, or all "
        "equal, which is kinder to a server than users are"),
    setting<&P::seed>(
        "seed",
        {.most = std::numeric_limits<std::int64_t>::max(), .raced = false},  // the seed of a race decides
        "of Poisson arrivals, and of the pauses before a connection is dialled again"),
    setting<&P::phase>(
        "phase", {.has_meaning = when<&P::has_schedule>, .needs = kNeedsSchedule},
        "with -R or -i, when the connections begin: spread over the interval, or all together in one "
        "burst"),
    setting<&P::burst>(
        "burst", {.least = 1, .most = 10'000, .has_meaning = when<&P::has_schedule>, .needs = kNeedsSchedule},
        "with -R or -i, messages of a connection that are due together; the next burst follows after as "
        "many intervals, so the rate stays the same; --depth is how many may be outstanding"),
    setting<&P::depth>("depth", {.least = 1, .most = 100'000},
                       "requests that a connection may have outstanding"),
    setting<&P::payload>("payload", {.least = 1, .most = 1ULL << 30, .unit = Unit::bytes, .standard = "32"},
                         "size of a message, without framing"),
    setting<&P::request_timeout>(
        "request_timeout",
        {.least = kInstant,
         .most = kDay,
         .standard = "5s; 1s where messages may be lost",
         .raced = false},  // one of a scenario's limits
        "give a request up that takes longer: its connection has failed; where messages may be lost, it "
        "is counted, and the connection goes on"),
    setting<&P::reconnect>(
        "reconnect", {.in_race = "and keep a contestant out of the ranking"},
        "a connection that fails to open, is reset, is closed early or gets no reply is dialled again; "
        "the requests lost with it have failed"),
    setting_by<get_backoff, set_backoff>(
        "backoff",
        {.least = kInstant,
         .most = kHour,
         .has_meaning = when<&P::reconnects>,
         .needs_key = "reconnect",
         .needs = "always"},
        "with --reconnect always, the pause before each dial: up to the first time, twice as long after "
        "each dial in vain, up to the second; at least half of it, the rest is drawn"),
    setting<&P::reconnect_for>("reconnect_for",
                               {.most = kDay,
                                .standard = "-w and -d together, with -m 10s in place of -d",
                                .has_meaning = when<&P::reconnects>,
                                .needs_key = "reconnect",
                                .needs = "always"},
                               "with --reconnect always, give a connection up that had no reply for so long"),
    setting<&P::tls>(
        "tls", {.in_race = "for servers that are commands"},
        "each connection is inside TLS 1.2 or 1.3, and the server's certificate is verified; a new session "
        "each time, nothing is resumed"),
    setting<&P::tls_ca>("tls_ca",
                        {.least = 1,
                         .most = kLongestText,
                         .standard = "the system's",
                         .has_meaning = when<&P::tls>,
                         .needs_key = "tls",
                         .needs = "too"},
                        "with --tls, a PEM file of the certificates to trust"),
    setting<&P::tls_name>(
        "tls_name",
        {.least = 1,
         .most = kLongestText,
         .standard = "the host that is dialled",
         .has_meaning = when<&P::tls>,
         .needs_key = "tls",
         .needs = "too"},
        "with --tls, the name or IP address that the certificate must be for; a name is sent to the server "
        "(SNI)"),
    setting<&P::tls_insecure>("tls_insecure",
                              {.excludes = "tls_ca",
                               .why_excluded = "one verifies certificates, the other takes any",
                               .has_meaning = when<&P::tls>,
                               .needs_key = "tls",
                               .needs = "too"},
                              "with --tls, take any certificate, of anybody"),
};

}  // namespace

SettingRows load_settings() {
  return kRows;
}

}  // namespace joust
