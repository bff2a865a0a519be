// SPDX-License-Identifier: MIT
#include "load/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.hpp"
#include "base/suggestion.hpp"
#include "base/units.hpp"

namespace joust {
namespace {

using Kind = LoadSetting::Kind;
using namespace std::chrono_literals;

constexpr std::size_t kLongestText = 4096;
constexpr double kLeastRate = 0.001, kMostRate = 1e9;  // parse_rate() has the same limits

constexpr std::uint64_t count_of(Duration time) {
  return static_cast<std::uint64_t>(time.count());
}

bool has_meaning(const LoadSetting& setting, const LoadPlan& plan) {
  return setting.has_meaning == nullptr || setting.has_meaning(plan);
}

bool is_standard(const LoadSetting& setting, const LoadPlan& plan) {
  return setting.get(plan) == setting.get(LoadPlan());
}

void reset(std::string_view key, LoadPlan& plan, const LoadPlan& standard) {
  const LoadSetting& setting = load_setting(key);
  setting.set(plan, setting.get(standard));
}

std::string number_text(const LoadSetting& setting, std::uint64_t number) {
  switch (setting.kind) {
    case Kind::time:
    case Kind::times:
      return duration_word(Duration(number));
    case Kind::bytes:
      return format_size(number);
    default:
      return grouped(number);
  }
}

std::string range_text(const LoadSetting& setting) {
  return fmt::format("allowed: {} to {}", number_text(setting, setting.least),
                     number_text(setting, setting.most));
}

// Returns the number of a value, or both numbers of a range, to which limits apply.
std::vector<std::uint64_t> numbers_in(const SettingValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return {*number};
  if (const auto* time = std::get_if<Duration>(&value)) return {count_of(*time)};
  if (const auto* range = std::get_if<DurationRange>(&value))
    return {count_of(range->least), count_of(range->most)};
  return {};
}

std::string exclusion(const LoadSetting& setting, GivenIn place) {
  return fmt::format("{} and {} exclude each other: {}", setting.name_in(place),
                     load_setting(setting.excludes).name_in(place), setting.why_excluded);
}

std::string unmet_need(const LoadSetting& setting, GivenIn place) {
  const std::string needed =
      setting.needs_key.empty() ? "" : load_setting(setting.needs_key).name_in(place) + ' ';
  return fmt::format("{} needs {}{}", setting.name_in(place), needed, setting.needs);
}

template <typename Parsed>
std::expected<SettingValue, std::string> as_value(const Parsed& parsed) {
  if (!parsed) return std::unexpected(parsed.error());
  return SettingValue(*parsed);
}

std::expected<SettingValue, std::string> parse_kind(const LoadSetting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::count:
      return as_value(parse_count(text));
    case Kind::bytes:
      return as_value(parse_bytes(text));
    case Kind::rate:
      return as_value(parse_rate(text));
    case Kind::time:
      return as_value(parse_duration(text));
    case Kind::times:
      return as_value(parse_duration_range(text));
    case Kind::toggle:
      if (text == "true" || text == "false") return SettingValue(text == "true");
      return std::unexpected(fmt::format("'{}' is not allowed; allowed: true, false", text));
    case Kind::word:
    case Kind::text:
      break;
  }
  return SettingValue(std::string(text));
}

}  // namespace

std::string LoadSetting::flag() const {
  std::string name = "--" + std::string(key);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string LoadSetting::flags() const {
  return letter.empty() ? flag() : fmt::format("-{},{}", letter, flag());
}

std::string LoadSetting::name_in(GivenIn place) const {
  switch (place) {
    case GivenIn::document:
      return std::string(json);
    case GivenIn::flags:
      return letter.empty() ? flag() : fmt::format("-{}", letter);
    case GivenIn::scenario:
      break;
  }
  return std::string(key);
}

std::expected<SettingValue, std::string> parse_setting(const LoadSetting& setting, std::string_view text) {
  auto value = parse_kind(setting, text);
  if (!value && value.error().ends_with(kTooLarge) && setting.most > 0)
    return std::unexpected(value.error() + "; " + range_text(setting));
  if (!value) return value;
  if (auto problem = objection_to(setting, *value)) return std::unexpected(std::move(*problem));
  return value;
}

std::string setting_text(const SettingValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* rate = std::get_if<double>(&value)) return fmt::format("{}", *rate);
  if (const auto* time = std::get_if<Duration>(&value)) return duration_word(*time);
  if (const auto* range = std::get_if<DurationRange>(&value)) return range_word(*range);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* on = std::get_if<bool>(&value)) return *on ? "true" : "false";
  return {};
}

std::string setting_text(const LoadSetting& setting, const LoadPlan& plan) {
  return setting_text(setting.get(plan));
}

std::optional<std::string> objection_to(const LoadSetting& setting, const SettingValue& value) {
  const bool is_rate = std::holds_alternative<double>(value);
  if (is_rate && !(std::get<double>(value) >= kLeastRate && std::get<double>(value) <= kMostRate))
    return "it is not between 0.001 and 1G messages a second";
  for (const std::uint64_t number : numbers_in(value))
    if (number < setting.least || number > setting.most)
      return fmt::format("{} is out of range; {}", number_text(setting, number), range_text(setting));
  const auto* const word = std::get_if<std::string>(&value);
  if (word != nullptr && setting.kind == Kind::text) {
    if (word->empty() || word->size() > kLongestText || has_control(*word))
      return fmt::format("allowed: 1 to {} bytes without control characters", kLongestText);
  } else if (word != nullptr && std::ranges::count(setting.words, *word) == 0)
    return not_allowed(fmt::format("'{}' is not allowed", *word), *word, setting.words);
  const auto* const range = std::get_if<DurationRange>(&value);
  if (range != nullptr && range->most < range->least) return "the shorter time comes first";
  return std::nullopt;
}

std::optional<Conflict> conflict_in(const LoadTexts& given, GivenIn place) {
  for (const LoadSetting& one : load_settings())
    if (!one.excludes.empty() && given.contains(one.key) && given.contains(one.excludes))
      return Conflict{std::string(one.key), exclusion(one, place)};
  return std::nullopt;
}

void apply(const LoadTexts& given, LoadPlan& plan, const LoadPlan& standard) {
  for (const LoadSetting& one : load_settings()) {
    if (one.excludes.empty()) continue;
    if (given.contains(one.key)) reset(one.excludes, plan, standard);
    if (given.contains(one.excludes)) reset(one.key, plan, standard);
  }
  for (const auto& [key, text] : given) {
    const LoadSetting& setting = load_setting(key);
    if (const auto value = parse_setting(setting, text)) setting.set(plan, *value);
  }
  for (const LoadSetting& one : load_settings())
    if (!given.contains(one.key) && !has_meaning(one, plan)) reset(one.key, plan, standard);
}

std::optional<std::string> objection_to(const LoadPlan& plan, GivenIn place) {
  if (plan.rate_per_s != 0 && !plan.open_loop())
    return "-R,--rate: it is not between 0.001 and 1G messages a second";
  for (const LoadSetting& setting : load_settings())
    if (const auto problem = objection_to(setting, setting.get(plan)); problem && !is_standard(setting, plan))
      return fmt::format("{}: {}", setting.flags(), *problem);
  // Messages and a duration exclude each other only where users give them: a plan has both.
  for (const char* key : {"rate", "tls_insecure"}) {
    const LoadSetting& setting = load_setting(key);
    if (!is_standard(setting, plan) && !is_standard(load_setting(setting.excludes), plan))
      return exclusion(setting, place);
  }
  for (const LoadSetting& setting : load_settings())
    if (!has_meaning(setting, plan) && !is_standard(setting, plan)) return unmet_need(setting, place);
  if (plan.open_loop() && plan.mean_gap() > 24h)
    return fmt::format(
        "-R,--rate: with {} messages a second each of {} connections would send less than once a day; use "
        "fewer connections (-c)",
        plan.rate_per_s, plan.connections);
  return std::nullopt;
}

std::vector<std::string> load_flags(const LoadPlan& plan, const LoadPlan& standard) {
  std::vector<std::string> words;
  for (const LoadSetting& setting : load_settings()) {
    const std::string text = setting_text(setting, plan);
    if (text.empty() || text == setting_text(setting, standard)) continue;
    words.push_back(setting.letter.empty() ? setting.flag() : fmt::format("-{}", setting.letter));
    if (setting.kind != Kind::toggle) words.push_back(text);
  }
  return words;
}

}  // namespace joust
