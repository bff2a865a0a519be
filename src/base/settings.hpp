// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.hpp"
#include "base/units.hpp"
#include "joust/time.hpp"

// The settings of a plain struct, one row each. Flags, --help, scenarios, JSON documents, the commands of a
// dry run and the tables of the documents are made from the rows. A row names a member, and the kind of its
// values, the words of an enum, the JSON key and the access follow from that:
//
//   setting<&LoadPlan::payload>("payload", {.least = 1, .most = 1ULL << 30, .unit = Unit::bytes},
//                               "size of a message, without framing")
namespace joust {

// The value of a setting. Nothing: the setting has no value, like the rate of a closed loop.
using SettingValue =
    std::variant<std::monostate, bool, std::uint64_t, double, Duration, DurationRange, std::string>;

// The unit of a number, which the type of a member does not tell.
enum class Unit : std::uint8_t { none, bytes, per_s, percent, ratio };

// The place of settings. Errors call a setting by its name there: "request_timeout" in a scenario,
// "request_timeout_s" in a document, "--request-timeout" among flags.
enum class GivenIn : std::uint8_t { scenario, document, flags };

// The rest of a row, beside its key, member and help.
struct SettingRules {
  std::string_view letter{};          // of the short flag: "c"; empty: none
  std::uint64_t least = 0, most = 0;  // of counts and bytes; of times in ns; of texts in bytes; most 0: none
  Unit unit = Unit::none;
  std::string_view value{};     // the word for the value in --help: "NAME"; empty: that of the kind
  std::string_view standard{};  // the default in words, if it is no value of the struct
  bool on_off = false;          // the flag of a bool takes `on` or `off`

  // Rules of a load's settings.
  std::string_view in_race{};                   // text that a race adds to the help
  bool raced = true;                            // scenarios and `race` have it
  std::string_view excludes{}, why_excluded{};  // the key of a setting that excludes this one, the reason
  bool (*has_meaning)(const void*) = nullptr;   // with the other settings: see when(); null: always
  std::string_view needs_key{}, needs{};        // the setting that it needs, and its value or other words

  // Rules of a race's own settings.
  std::string_view heading{};   // of the flag in --help; empty: it has no flag
  bool placed = false;          // the command gives the flag its place below the heading
  bool in_file = true;          // scenarios have it
  std::string_view table{};     // of the scenario: "limits"; empty: the document itself
  std::string_view file_key{};  // in that table; empty: the key
  // Returns what is wrong with a text that has a form of its own, and may be a number in a scenario.
  std::optional<std::string> (*objection)(const std::string&) = nullptr;
};

namespace settings {

template <typename T>
inline constexpr char kIdentity = 0;  // its address stands for the type

}  // namespace settings

struct Setting : SettingRules {
  enum class Kind : std::uint8_t { count, bytes, rate, percent, ratio, time, times, word, text, toggle };

  std::string_view key{};   // "request_timeout"; the flag is --request-timeout
  std::string_view help{};  // without the default
  std::string json{};       // in documents, with the unit: "request_timeout_s"
  Kind kind = Kind::text;
  std::vector<std::string> words{};  // the values of Kind::word, and of a flag that takes `on` or `off`
  bool may_be_null = true;           // in documents; false: it is left out there while it has no value
  const void* of = nullptr;          // the struct: settings::kIdentity
  SettingValue (*read)(const void*) = nullptr;
  void (*write)(void*, const SettingValue&) = nullptr;  // the value has the alternative of `kind`, or none

  template <typename Struct>
  SettingValue get(const Struct& from) const {
    assert(of == &settings::kIdentity<Struct>);
    return read(&from);
  }
  template <typename Struct>
  void set(Struct& into, const SettingValue& to) const {
    assert(of == &settings::kIdentity<Struct>);
    write(&into, to);
  }

  bool is_switch() const { return kind == Kind::toggle && !on_off; }  // its flag takes no value
  std::string flag() const;                                           // "--request-timeout"
  std::string flags() const;                                          // "-c,--connections"
  std::string name_in(GivenIn place) const;                           // the flag is the short one: "-c"
  std::string_view key_in_file() const { return file_key.empty() ? key : file_key; }
  std::string value_word() const;  // for --help: "TIME", "on|off"
};

namespace settings {

template <typename T>
struct Bare {
  static constexpr bool kOptional = false;
  using Type = T;
};
template <typename T>
struct Bare<std::optional<T>> {
  static constexpr bool kOptional = true;
  using Type = T;
};

// Returns the value of a member. A switch that is off, an empty text and a rate of 0 are no values.
template <typename T>
SettingValue value_of(const T& value) {
  if constexpr (Bare<T>::kOptional) {
    if (!value) return {};
    if constexpr (std::is_enum_v<typename Bare<T>::Type>)
      return value_of(*value);
    else
      return SettingValue(*value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(word_of(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.empty() ? SettingValue() : SettingValue(value);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>) {
    return value > T() ? SettingValue(value) : SettingValue();
  } else {
    return value;
  }
}

template <typename T>
void take(T& into, const SettingValue& value) {
  if constexpr (Bare<T>::kOptional) {
    into.reset();
    if (!std::holds_alternative<std::monostate>(value)) take(into.emplace(), value);
  } else if constexpr (std::is_enum_v<T>) {
    const auto* const word = std::get_if<std::string>(&value);
    into = word == nullptr ? T() : value_of_word<T>(*word).value_or(T());
  } else {
    const T* const given = std::get_if<T>(&value);
    into = given == nullptr ? T() : *given;
  }
}

template <typename T>
constexpr Setting::Kind kind_of(Unit unit) {
  using Kind = Setting::Kind;
  if constexpr (std::is_enum_v<T>) return Kind::word;
  if constexpr (std::is_same_v<T, bool>) return Kind::toggle;
  if constexpr (std::is_same_v<T, std::uint64_t>) return unit == Unit::bytes ? Kind::bytes : Kind::count;
  if constexpr (std::is_same_v<T, double>)
    return unit == Unit::percent ? Kind::percent : unit == Unit::ratio ? Kind::ratio : Kind::rate;
  if constexpr (std::is_same_v<T, Duration>) return Kind::time;
  if constexpr (std::is_same_v<T, DurationRange>) return Kind::times;
  return Kind::text;
}

template <typename Struct, typename T>
Struct struct_of(T Struct::*);

// Accesses a member, or a member of a member.
template <auto First, auto... Rest>
struct Access {
  using Struct = decltype(struct_of(First));
  static auto& in(auto& all) { return ((all.*First).*....*Rest); }
  using Type = std::remove_cvref_t<decltype(in(std::declval<Struct&>()))>;
  static const Type& get(const void* all) { return in(*static_cast<const Struct*>(all)); }
  static void write(void* all, const SettingValue& value) { take(in(*static_cast<Struct*>(all)), value); }
};

// Accesses by a function that returns a value or nothing, and one that takes it.
template <auto Get, auto Set>
struct Functions {
  template <typename S, typename T>
  static S struct_of(T (*)(const S&));
  using Struct = decltype(struct_of(Get));
  using Type = std::invoke_result_t<decltype(Get), const Struct&>;
  static Type get(const void* all) { return Get(*static_cast<const Struct*>(all)); }
  static void write(void* all, const SettingValue& value) {
    Type taken{};
    take(taken, value);
    Set(*static_cast<Struct*>(all), taken);
  }
};

template <typename Access>
Setting row(std::string_view key, const SettingRules& rules, std::string_view help) {
  using Member = Bare<typename Access::Type>;
  Setting row{rules};
  row.key = key;
  row.help = help;
  row.kind = kind_of<typename Member::Type>(rules.unit);
  const bool is_time = row.kind == Setting::Kind::time || row.kind == Setting::Kind::times;
  row.json = std::string(key) + (is_time                            ? "_s"
                                 : row.kind == Setting::Kind::bytes ? "_bytes"
                                 : rules.unit == Unit::per_s        ? "_per_s"
                                                                    : "");
  if constexpr (std::is_enum_v<typename Member::Type>) {
    constexpr auto& kWords = kWordsOf<typename Member::Type>;
    row.words.assign(kWords.begin(), kWords.end());
  }
  if (rules.on_off) row.words = {"on", "off"};
  row.may_be_null =
      Member::kOptional || (row.kind != Setting::Kind::text && row.kind != Setting::Kind::toggle);
  row.of = &kIdentity<typename Access::Struct>;
  row.read = [](const void* all) { return value_of(Access::get(all)); };
  if constexpr (std::is_same_v<typename Access::Type, bool>)
    if (rules.on_off) row.read = [](const void* all) { return SettingValue(Access::get(all)); };
  row.write = Access::write;
  return row;
}

}  // namespace settings

// Returns the row of a member, <&Plan::payload>, or of a member of a member, <&Plan::limits, &Limits::idle>.
template <auto... Path>
Setting setting(std::string_view key, const SettingRules& rules, std::string_view help) {
  return settings::row<settings::Access<Path...>>(key, rules, help);
}
// Returns the row of a setting that is several members: `Get` makes a value of them, and `Set` sets them.
template <auto Get, auto Set>
Setting setting_by(std::string_view key, const SettingRules& rules, std::string_view help) {
  return settings::row<settings::Functions<Get, Set>>(key, rules, help);
}

// For SettingRules::has_meaning: a bool of the struct, or a function of it that returns one.
template <auto Member>
bool when(const void* all) {
  const auto ask = []<typename Struct, typename T>(T Struct::*member, const void* whole) {
    return std::invoke(member, *static_cast<const Struct*>(whole));
  };
  return ask(Member, all);
}

// The rows of one struct. Below, `all` is such a struct, and `standard` one with its defaults.
using SettingRows = std::span<const Setting>;
const Setting& row_of(SettingRows rows, std::string_view key);  // of an existing key

// Settings as text, in the form in which people give them, by key.
using SettingTexts = std::map<std::string, std::string, std::less<>>;

// Returns the value of the text. The error names the mistake and the allowed values.
std::expected<SettingValue, std::string> parse_setting(const Setting& row, std::string_view text);
// Returns the text that parse_setting() reads as this value; empty if the setting has no value.
std::string setting_text(const Setting& row, const SettingValue& value);
// Returns why the value is beyond the setting's limits.
std::optional<std::string> objection_to(const Setting& row, const SettingValue& value);

// A pair of settings that were given in one place, and exclude each other.
struct Conflict {
  std::string key{};  // one of the two keys
  std::string text{};
};
std::optional<Conflict> conflict_in(SettingRows rows, const SettingTexts& given, GivenIn place);

// Sets the given settings. Each text is valid for parse_setting(). Settings that these exclude, and settings
// that have no meaning any more, get the values of `standard`.
void apply(SettingRows rows, const SettingTexts& given, void* all, const void* standard);

// Returns why the settings are not possible: a value beyond its limits, or one that has no meaning with the
// others.
std::optional<std::string> objection_to(SettingRows rows, const void* all, const void* standard,
                                        GivenIn place);

// Returns the words of a command line for the differences from `standard`: "-c 64 -d 1s --rate 5000".
std::vector<std::string> setting_flags(SettingRows rows, const void* all, const void* standard);

// Returns the default in words: that of the row, or the value of `standard`; empty: none.
std::string standard_text(const Setting& row, const void* standard);

// Returns the settings in the form of documents: times in seconds, null for a setting without a value.
nlohmann::ordered_json settings_json(SettingRows rows, const void* all);
// Returns the value of a document; nothing for a value of another type. objection_to() has the limits.
SettingValue value_in_document(const Setting& row, const nlohmann::ordered_json& value);

}  // namespace joust
