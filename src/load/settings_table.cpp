// SPDX-License-Identifier: MIT
//
// The rows of the settings. A new setting of a load needs a row, a member of LoadPlan, and the code that uses
// it.
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "load/settings.hpp"

namespace joust {
namespace {

using Kind = LoadSetting::Kind;
using namespace std::chrono_literals;

constexpr std::uint64_t kMostWhole = 1'000'000'000;

constexpr std::uint64_t ns(Duration time) {
  return static_cast<std::uint64_t>(time.count());
}
constexpr std::uint64_t kInstant = ns(1ms), kHour = ns(1h), kDay = ns(24h);

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

// Access a member that is a number or a time, or an optional one.
template <auto Member>
SettingValue get(const LoadPlan& plan) {
  const auto& value = plan.*Member;
  if constexpr (is_optional<std::remove_cvref_t<decltype(value)>>)
    return value ? SettingValue(*value) : SettingValue();
  else
    return SettingValue(value);
}
template <auto Member>
void set(LoadPlan& plan, const SettingValue& value) {
  auto& into = plan.*Member;
  using Into = std::remove_cvref_t<decltype(into)>;
  if constexpr (is_optional<Into>) {
    const auto* const given = std::get_if<typename Into::value_type>(&value);
    into = given == nullptr ? Into() : Into(*given);
  } else {
    into = std::get<Into>(value);
  }
}

// Access a member that is one of two words.
using Words = std::array<std::string_view, 2>;
constexpr Words kArrivals{"constant", "poisson"}, kPhases{"spread", "together"},
    kReconnects{"never", "always"};

template <auto Member, const Words& Choices>
SettingValue get_word(const LoadPlan& plan) {
  return std::string(Choices[static_cast<std::size_t>(plan.*Member)]);
}
template <auto Member, const Words& Choices>
void set_word(LoadPlan& plan, const SettingValue& value) {
  using Word = std::remove_cvref_t<decltype(plan.*Member)>;
  plan.*Member = static_cast<Word>(std::get<std::string>(value) == Choices[1]);
}

// Access the arrivals, which may be left open.
SettingValue get_arrivals(const LoadPlan& plan) {
  if (!plan.arrivals) return {};
  return std::string(kArrivals[static_cast<std::size_t>(*plan.arrivals)]);
}
void set_arrivals(LoadPlan& plan, const SettingValue& value) {
  const auto* const word = std::get_if<std::string>(&value);
  plan.arrivals.reset();
  if (word != nullptr) plan.arrivals = static_cast<LoadPlan::Arrivals>(*word == kArrivals[1]);
}

// Access the rate. A load without a rate has no value.
SettingValue get_rate(const LoadPlan& plan) {
  return plan.open_loop() ? SettingValue(plan.rate_per_s) : SettingValue();
}
void set_rate(LoadPlan& plan, const SettingValue& value) {
  const double* const rate = std::get_if<double>(&value);
  plan.rate_per_s = rate == nullptr ? 0 : *rate;
}

// Access the duration. A number of messages replaces the time, and a time replaces the number.
SettingValue get_duration(const LoadPlan& plan) {
  return plan.window() ? SettingValue(plan.duration) : SettingValue();
}
void set_duration(LoadPlan& plan, const SettingValue& value) {
  if (const Duration* const time = std::get_if<Duration>(&value)) {
    plan.duration = *time;
    plan.messages.reset();
  }
}

SettingValue get_backoff(const LoadPlan& plan) {
  return DurationRange{plan.backoff_least, plan.backoff_most};
}
void set_backoff(LoadPlan& plan, const SettingValue& value) {
  const auto& range = std::get<DurationRange>(value);
  plan.backoff_least = range.least;
  plan.backoff_most = range.most;
}

// Access a switch. One that is off has no value.
template <auto Member>
SettingValue get_switch(const LoadPlan& plan) {
  return plan.*Member ? SettingValue(true) : SettingValue();
}
template <auto Member>
void set_switch(LoadPlan& plan, const SettingValue& value) {
  const bool* const given = std::get_if<bool>(&value);
  plan.*Member = given != nullptr && *given;
}

// Access a text. An empty one is no value.
template <auto Member>
SettingValue get_text(const LoadPlan& plan) {
  return (plan.*Member).empty() ? SettingValue() : SettingValue(plan.*Member);
}
template <auto Member>
void set_text(LoadPlan& plan, const SettingValue& value) {
  const auto* const given = std::get_if<std::string>(&value);
  plan.*Member = given == nullptr ? std::string() : *given;
}

bool over_tls(const LoadPlan& plan) {
  return plan.tls;
}
bool open_loop(const LoadPlan& plan) {
  return plan.open_loop();
}
bool has_schedule(const LoadPlan& plan) {
  return plan.has_schedule();
}
bool reconnects(const LoadPlan& plan) {
  return plan.reconnects();
}
constexpr std::string_view kNeedsSchedule =
    "a rate or an interval: without a schedule each reply is followed by the next message";
constexpr std::string_view kReconnect = "reconnect", kAlways = kReconnects[1];
constexpr std::string_view kTls = "tls", kToo = "too";

const std::array<LoadSetting, 21> kSettings{{
    {.key = "connections",
     .letter = "c",
     .json = "connections",
     .kind = Kind::count,
     .least = 1,
     .most = 1'000'000,
     .help = "connections, open at the same time",
     .get = get<&LoadPlan::connections>,
     .set = set<&LoadPlan::connections>},
    {.key = "messages",
     .letter = "m",
     .json = "messages",
     .kind = Kind::count,
     .least = 1,
     .most = kMostWhole,
     .help = "messages of each connection; ends the load, in place of a time",
     .excludes = "duration",
     .why_excluded = "one of them ends the load",
     .get = get<&LoadPlan::messages>,
     .set = set<&LoadPlan::messages>},
    {.key = "messages_per_connection",
     .json = "messages_per_connection",
     .kind = Kind::count,
     .least = 1,
     .most = kMostWhole,
     .help = "end a connection after so many replies, and dial another one in its place at once: short "
             "connections; the wait for the new one, with handshakes and last words, counts as latency",
     .standard = "connections last",
     .get = get<&LoadPlan::messages_per_connection>,
     .set = set<&LoadPlan::messages_per_connection>},
    {.key = "duration",
     .letter = "d",
     .json = "duration_s",
     .kind = Kind::time,
     .least = kInstant,
     .most = kDay,
     .help = "time to measure; ends the load",
     .in_race = "of each trial; without --rounds it is shortened where fewer than 12 rounds would fit into "
                "--time",
     .get = get_duration,
     .set = set_duration},
    {.key = "warmup",
     .letter = "w",
     .json = "warmup_s",
     .kind = Kind::time,
     .most = kDay,
     .help = "the same traffic before, not measured",
     .in_race = "unless it is given, at most 100ms where --time ends the race",
     .get = get<&LoadPlan::warmup>,
     .set = set<&LoadPlan::warmup>},
    {.key = "interval",
     .letter = "i",
     .json = "interval_s",
     .kind = Kind::time,
     .most = kDay,
     .help =
         "closed schedule: time from one message of a connection to the next; with all slots (--depth) in "
         "use the next one is moved back, so a server that stops delays few messages, and few delays are "
         "counted: see -R",
     .get = get<&LoadPlan::interval>,
     .set = set<&LoadPlan::interval>},
    {.key = "rate",
     .letter = "R",
     .json = "rate_per_s",
     .kind = Kind::rate,
     .help = "open loop: messages a second, of all connections together; latency counts from the time at "
             "which each was due, whatever the server does; they are due at random (--arrivals)",
     .in_race = "contestants are ranked by latency",
     .standard = "a closed loop",
     .excludes = "interval",
     .why_excluded = "a rate is the open loop, an interval the closed schedule",
     .get = get_rate,
     .set = set_rate},
    {.key = "arrivals",
     .json = "arrivals",
     .kind = Kind::word,
     .words = {kArrivals.begin(), kArrivals.end()},
     .help = "with -R, the gaps between messages: those of a Poisson process, as of users, or all "
             "equal, which is kinder to a server than users are",
     .standard = "poisson; constant with --phase together",
     .has_meaning = open_loop,
     .needs = "a rate: without one no message has a time to arrive at",
     .get = get_arrivals,
     .set = set_arrivals},
    {.key = "seed",
     .json = "seed",
     .kind = Kind::count,
     .most = std::numeric_limits<std::int64_t>::max(),
     .help = "of Poisson arrivals: another one gives other arrivals",
     .raced = false,  // the seed of a race decides
     .get = get<&LoadPlan::seed>,
     .set = set<&LoadPlan::seed>},
    {.key = "phase",
     .json = "phase",
     .kind = Kind::word,
     .words = {kPhases.begin(), kPhases.end()},
     .help = "with -R or -i, when the connections begin: spread over the interval, or all together in one "
             "burst",
     .has_meaning = has_schedule,
     .needs = kNeedsSchedule,
     .get = get_word<&LoadPlan::phase, kPhases>,
     .set = set_word<&LoadPlan::phase, kPhases>},
    {.key = "burst",
     .json = "burst",
     .kind = Kind::count,
     .least = 1,
     .most = 10'000,
     .help = "with -R or -i, messages of a connection that are due together; the next burst follows after as "
             "many intervals, so the rate stays the same; --depth is how many may be outstanding",
     .has_meaning = has_schedule,
     .needs = kNeedsSchedule,
     .get = get<&LoadPlan::burst>,
     .set = set<&LoadPlan::burst>},
    {.key = "depth",
     .json = "depth",
     .kind = Kind::count,
     .least = 1,
     .most = 100'000,
     .help = "requests that a connection may have outstanding",
     .get = get<&LoadPlan::depth>,
     .set = set<&LoadPlan::depth>},
    {.key = "payload",
     .json = "payload_bytes",
     .kind = Kind::bytes,
     .least = 1,
     .most = 1ULL << 30,
     .help = "size of a message, without framing",
     .standard = "32",
     .get = get<&LoadPlan::payload>,
     .set = set<&LoadPlan::payload>},
    {.key = "request_timeout",
     .json = "request_timeout_s",
     .kind = Kind::time,
     .least = kInstant,
     .most = kDay,
     .help = "give a request up that takes longer: its connection has failed; where messages may be lost, it "
             "is counted, and the connection goes on",
     .standard = "5s; 1s where messages may be lost",
     .raced = false,  // one of a scenario's limits
     .get = get<&LoadPlan::request_timeout>,
     .set = set<&LoadPlan::request_timeout>},
    {.key = kReconnect,
     .json = "reconnect",
     .kind = Kind::word,
     .words = {kReconnects.begin(), kReconnects.end()},
     .help = "a connection that fails to open, is reset, is closed early or gets no reply is dialled again; "
             "the requests lost with it have failed",
     .in_race = "and keep a contestant out of the ranking",
     .get = get_word<&LoadPlan::reconnect, kReconnects>,
     .set = set_word<&LoadPlan::reconnect, kReconnects>},
    {.key = "backoff",
     .json = "backoff_s",
     .kind = Kind::times,
     .least = kInstant,
     .most = kHour,
     .help = "with --reconnect always, the pause before each dial: up to the first time, twice as long after "
             "each dial in vain, up to the second; at least half of it, the rest is drawn",
     .has_meaning = reconnects,
     .needs_key = kReconnect,
     .needs = kAlways,
     .get = get_backoff,
     .set = set_backoff},
    {.key = "reconnect_for",
     .json = "reconnect_for_s",
     .kind = Kind::time,
     .most = kDay,
     .help = "with --reconnect always, give a connection up that had no reply for so long",
     .standard = "-w and -d together, with -m 10s in place of -d",
     .has_meaning = reconnects,
     .needs_key = kReconnect,
     .needs = kAlways,
     .get = get<&LoadPlan::reconnect_for>,
     .set = set<&LoadPlan::reconnect_for>},
    {.key = kTls,
     .json = "tls",
     .kind = Kind::toggle,
     .help =
         "each connection is inside TLS 1.2 or 1.3, and the server's certificate is verified; a new session "
         "each time, nothing is resumed",
     .in_race = "for servers that are commands",
     .get = get_switch<&LoadPlan::tls>,
     .set = set_switch<&LoadPlan::tls>},
    {.key = "tls_ca",
     .json = "tls_ca",
     .kind = Kind::text,
     .help = "with --tls, a PEM file of the certificates to trust",
     .standard = "the system's",
     .has_meaning = over_tls,
     .needs_key = kTls,
     .needs = kToo,
     .get = get_text<&LoadPlan::tls_ca>,
     .set = set_text<&LoadPlan::tls_ca>},
    {.key = "tls_name",
     .json = "tls_name",
     .kind = Kind::text,
     .help =
         "with --tls, the name or IP address that the certificate must be for; a name is sent to the server "
         "(SNI)",
     .standard = "the host that is dialled",
     .has_meaning = over_tls,
     .needs_key = kTls,
     .needs = kToo,
     .get = get_text<&LoadPlan::tls_name>,
     .set = set_text<&LoadPlan::tls_name>},
    {.key = "tls_insecure",
     .json = "tls_insecure",
     .kind = Kind::toggle,
     .help = "with --tls, take any certificate, of anybody",
     .excludes = "tls_ca",
     .why_excluded = "one verifies certificates, the other takes any",
     .has_meaning = over_tls,
     .needs_key = kTls,
     .needs = kToo,
     .get = get_switch<&LoadPlan::tls_insecure>,
     .set = set_switch<&LoadPlan::tls_insecure>},
}};

}  // namespace

std::span<const LoadSetting> load_settings() {
  return kSettings;
}

const LoadSetting& load_setting(std::string_view key) {
  return *std::ranges::find(kSettings, key, &LoadSetting::key);
}

}  // namespace joust
