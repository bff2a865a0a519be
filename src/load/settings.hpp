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

// The value of a setting. Nothing: the setting has no value, like the rate of a closed loop.
using SettingValue =
    std::variant<std::monostate, bool, std::uint64_t, double, Duration, DurationRange, std::string>;

// The place of settings. Errors call a setting by its name there: "request_timeout" in a scenario,
// "request_timeout_s" in a document, "--request-timeout" among flags.
enum class GivenIn : std::uint8_t { scenario, document, flags };

struct LoadSetting {
  enum class Kind : std::uint8_t { count, bytes, rate, time, times, word, text, toggle };

  // Returns whether a plan may lack it: documents then do so too.
  bool is_extra() const { return kind == Kind::text || kind == Kind::toggle; }

  std::string_view key;  // in scenarios and error texts: "request_timeout"; the flag is --request-timeout
  std::string_view letter{};  // of the short flag: "c"; empty: none
  std::string_view json;      // in documents, with the unit: "request_timeout_s"
  Kind kind;
  std::uint64_t least = 0, most = 0;            // limits of counts and bytes; of times in ns
  std::vector<std::string> words{};             // the values of Kind::word
  std::string_view help;                        // without the default
  std::string_view in_race{};                   // text that a race adds to the help
  std::string_view standard{};                  // the default in words, if it is no value of the plan
  bool raced = true;                            // scenarios and `race` have it
  std::string_view excludes{}, why_excluded{};  // the key of a setting that excludes this one, and the reason
  bool (*has_meaning)(const LoadPlan&) = nullptr;  // with the other settings; null: always
  std::string_view needs_key{}, needs{};           // the setting that it needs, and its value or other words
  SettingValue (*get)(const LoadPlan&);
  void (*set)(LoadPlan&, const SettingValue&);  // the value has the alternative of `kind`

  std::string flag() const;                  // "--request-timeout"
  std::string flags() const;                 // "-c,--connections"
  std::string name_in(GivenIn place) const;  // the flag is the short one: "-c"
};

std::span<const LoadSetting> load_settings();
const LoadSetting& load_setting(std::string_view key);  // of an existing key

// Settings as text, in the form in which people give them, by key.
using LoadTexts = std::map<std::string, std::string, std::less<>>;

// Returns the value of the text. The error names the mistake and the allowed values.
std::expected<SettingValue, std::string> parse_setting(const LoadSetting& setting, std::string_view text);
// Return the text that parse_setting() reads as this value; empty if the setting has no value.
std::string setting_text(const SettingValue& value);
std::string setting_text(const LoadSetting& setting, const LoadPlan& plan);
// Returns why the value is beyond the setting's limits.
std::optional<std::string> objection_to(const LoadSetting& setting, const SettingValue& value);

// A pair of settings that were given in one place, and exclude each other.
struct Conflict {
  std::string key{};  // one of the two keys
  std::string text{};
};
std::optional<Conflict> conflict_in(const LoadTexts& given, GivenIn place);
// Sets the given settings. Each text is valid for parse_setting(). Settings that these exclude, and settings
// that have no meaning any more, get the values of `standard`.
void apply(const LoadTexts& given, LoadPlan& plan, const LoadPlan& standard);

// Returns why the plan is not possible: a value beyond its limits, a setting that has no meaning with the
// others, or a rate at which a connection would hardly ever send.
std::optional<std::string> objection_to(const LoadPlan& plan, GivenIn place = GivenIn::scenario);

// Returns the words for one load on a command line: the differences from `standard`, "-c 64 -d 1s --rate
// 5000".
std::vector<std::string> load_flags(const LoadPlan& plan, const LoadPlan& standard);

}  // namespace joust
