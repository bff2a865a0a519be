// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/duration_range.hpp"
#include "joust/load_plan.hpp"

// The settings of a load, one row each. Flags, --help, scenarios, JSON documents and the commands of a dry
// run are made from these rows, so a limit or a word is written once.
namespace joust {

// A value of a setting. Nothing: the setting has no value, like the rate of a closed loop.
using SettingValue =
    std::variant<std::monostate, std::uint64_t, double, Duration, DurationRange, std::string>;

struct LoadSetting {
  enum class Kind : std::uint8_t { count, bytes, rate, time, times, word };

  std::string_view key;  // of scenarios and error texts: "request_timeout"; the flag is --request-timeout
  std::string_view letter{};  // of the short flag: "c"; empty: there is none
  std::string_view json;      // of documents, with the unit: "request_timeout_s"
  Kind kind;
  std::uint64_t least = 0, most = 0;            // counts and bytes; times in ns
  std::vector<std::string> words{};             // the values of Kind::word
  std::string_view help;                        // without the default
  std::string_view in_race{};                   // what a race adds to the help
  std::string_view standard{};                  // the default in words, where it is no value of the plan
  bool raced = true;                            // scenarios and `race` have it
  std::string_view excludes{}, why_excluded{};  // the key of a setting that excludes this one, and the reason
  bool (*has_meaning)(const LoadPlan&) = nullptr;  // with the other settings; null: always
  std::string_view needs{};                        // the words for that
  SettingValue (*get)(const LoadPlan&);
  void (*set)(LoadPlan&, const SettingValue&);  // of the alternative that belongs to `kind`

  std::string flag() const;   // "--request-timeout"
  std::string flags() const;  // "-c,--connections"
};

std::span<const LoadSetting> load_settings();
const LoadSetting& load_setting(std::string_view key);  // that exists

// Settings as a person gives them, by key.
using LoadTexts = std::map<std::string, std::string, std::less<>>;

// The value that the text stands for. The error says what is wrong and what is allowed.
std::expected<SettingValue, std::string> parse_setting(const LoadSetting& setting, std::string_view text);
// The text that parse_setting() reads as this value; empty where there is none.
std::string setting_text(const SettingValue& value);
std::string setting_text(const LoadSetting& setting, const LoadPlan& plan);
// Why the value is beyond the setting's limits.
std::optional<std::string> objection_to(const LoadSetting& setting, const SettingValue& value);

// Two settings that were given in one place, and exclude each other.
struct Conflict {
  std::string key{};  // one of them
  std::string text{};
};
std::optional<Conflict> conflict_in(const LoadTexts& given);
// Sets what was given; each text is one that parse_setting() takes. Settings that this excludes, and those
// that have no meaning any more, become those of `standard`.
void apply(const LoadTexts& given, LoadPlan& plan, const LoadPlan& standard);

// Why no load can be as planned: a value beyond its limits, a setting that has no meaning with the others, a
// rate at which a connection would hardly ever send.
std::optional<std::string> objection_to(const LoadPlan& plan);

// The words for one load on a command line: what differs from `standard`, "-c 64 -d 1s --rate 5000".
std::vector<std::string> load_flags(const LoadPlan& plan, const LoadPlan& standard);

}  // namespace joust
