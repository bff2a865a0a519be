// SPDX-License-Identifier: MIT
#include "base/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Setting::Kind;

constexpr double kLeastRate = 0.001, kMostRate = 1e9;  // parse_rate() has the same limits

bool has_value(const SettingValue& value) {
  return !std::holds_alternative<std::monostate>(value);
}

bool has_meaning(const Setting& row, const void* all) {
  return row.has_meaning == nullptr || row.has_meaning(all);
}

std::uint64_t count_of(Duration time) {
  return static_cast<std::uint64_t>(time.count());
}

double seconds_in(Duration time) {
  return std::chrono::duration<double>(time).count();
}

std::string number_text(const Setting& row, std::uint64_t number) {
  if (row.kind == Kind::time || row.kind == Kind::times) return duration_word(Duration(number));
  return row.kind == Kind::bytes ? format_size(number) : grouped(number);
}

std::string range_text(const Setting& row) {
  return fmt::format("allowed: {} to {}", number_text(row, row.least), number_text(row, row.most));
}

// Returns the number of a value, or both numbers of a range, to which limits apply.
std::vector<std::uint64_t> numbers_in(const SettingValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return {*number};
  if (const auto* time = std::get_if<Duration>(&value)) return {count_of(*time)};
  if (const auto* range = std::get_if<DurationRange>(&value))
    return {count_of(range->least), count_of(range->most)};
  return {};
}

std::string exclusion(SettingRows rows, const Setting& row, GivenIn place) {
  return fmt::format("{} and {} exclude each other: {}", row.name_in(place),
                     row_of(rows, row.excludes).name_in(place), row.why_excluded);
}

std::string unmet_need(SettingRows rows, const Setting& row, GivenIn place) {
  const std::string needed = row.needs_key.empty() ? "" : row_of(rows, row.needs_key).name_in(place) + ' ';
  return fmt::format("{} needs {}{}", row.name_in(place), needed, row.needs);
}

template <typename Parsed>
std::expected<SettingValue, std::string> as_value(const Parsed& parsed) {
  if (!parsed) return std::unexpected(parsed.error());
  return SettingValue(*parsed);
}

std::expected<SettingValue, std::string> parse_toggle(const Setting& row, std::string_view text) {
  const std::string wrong = fmt::format("'{}' is not allowed", text);
  if (row.on_off) {
    if (text == row.words[0] || text == row.words[1]) return SettingValue(text == row.words[0]);
    return std::unexpected(not_allowed(wrong, text, row.words));
  }
  if (text == "true" || text == "false") return SettingValue(text == "true");
  return std::unexpected(wrong + "; allowed: true, false");
}

std::expected<SettingValue, std::string> parse_kind(const Setting& row, std::string_view text) {
  switch (row.kind) {
    case Kind::count:
      return as_value(parse_count(text));
    case Kind::bytes:
      return as_value(parse_bytes(text));
    case Kind::rate:
      return as_value(parse_rate(text));
    case Kind::percent:
      return as_value(parse_percent(text));
    case Kind::ratio:
      return as_value(parse_ratio(text));
    case Kind::time:
      return as_value(parse_duration(text));
    case Kind::times:
      return as_value(parse_duration_range(text));
    case Kind::toggle:
      return parse_toggle(row, text);
    case Kind::word:
    case Kind::text:
      break;
  }
  return SettingValue(std::string(text));
}

std::optional<std::string> objection_to_text(const Setting& row, const std::string& text) {
  if (row.kind == Kind::word && std::ranges::count(row.words, text) == 0)
    return not_allowed(fmt::format("'{}' is not allowed", text), text, row.words);
  if (row.kind == Kind::text && row.most > 0)
    if (text.size() < row.least || text.size() > row.most || has_control(text))
      return fmt::format("allowed: {} to {} bytes without control characters", row.least, row.most);
  return row.objection == nullptr ? std::nullopt : row.objection(text);
}

Json value_json(const SettingValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
  if (const auto* fraction = std::get_if<double>(&value)) return *fraction;
  if (const auto* time = std::get_if<Duration>(&value)) return seconds_in(*time);
  if (const auto* range = std::get_if<DurationRange>(&value))
    return Json{seconds_in(range->least), seconds_in(range->most)};
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* on = std::get_if<bool>(&value)) return *on;
  return nullptr;
}

Duration time_from(const Json& value) {
  constexpr double kLongest_s = 1e9;  // far beyond the limit of any setting, far below an overflow
  const auto s = value.get<double>();
  if (!(s >= 0 && s <= kLongest_s)) return Duration::max();
  return std::chrono::round<Duration>(std::chrono::duration<double>(s));
}

}  // namespace

std::string Setting::flag() const {
  std::string name = "--" + std::string(key);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string Setting::flags() const {
  return letter.empty() ? flag() : fmt::format("-{},{}", letter, flag());
}

std::string Setting::name_in(GivenIn place) const {
  if (place == GivenIn::document) return json;
  if (place == GivenIn::scenario) return std::string(key);
  return letter.empty() ? flag() : fmt::format("-{}", letter);
}

std::string Setting::value_word() const {
  if (!words.empty()) return join(words, "|");
  if (!value.empty()) return std::string(value);
  switch (kind) {
    case Kind::count:
      return "N";
    case Kind::bytes:
      return "BYTES";
    case Kind::rate:
      return "RATE";
    case Kind::percent:
      return "PERCENT";
    case Kind::ratio:
      return "RATIO";
    case Kind::time:
      return "TIME";
    case Kind::times:
      return "TIME[..TIME]";
    case Kind::text:
      return "TEXT";
    case Kind::word:
    case Kind::toggle:
      break;
  }
  return {};  // a switch
}

const Setting& row_of(SettingRows rows, std::string_view key) {
  return *std::ranges::find(rows, key, &Setting::key);
}

std::expected<SettingValue, std::string> parse_setting(const Setting& row, std::string_view text) {
  auto value = parse_kind(row, text);
  if (!value && value.error().ends_with(kTooLarge) && row.most > 0)
    return std::unexpected(value.error() + "; " + range_text(row));
  if (!value) return value;
  if (auto problem = objection_to(row, *value)) return std::unexpected(std::move(*problem));
  return value;
}

std::string setting_text(const Setting& row, const SettingValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* time = std::get_if<Duration>(&value)) return duration_word(*time);
  if (const auto* range = std::get_if<DurationRange>(&value)) return range_word(*range);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* fraction = std::get_if<double>(&value))
    return row.kind == Kind::percent ? fmt::format("{:.12g}%", *fraction * 100)
                                     : fmt::format("{}", *fraction);
  const auto* const on = std::get_if<bool>(&value);
  if (on == nullptr) return {};
  return row.on_off ? row.words[*on ? 0 : 1] : *on ? "true" : "false";
}

std::optional<std::string> objection_to(const Setting& row, const SettingValue& value) {
  const auto* const rate = std::get_if<double>(&value);
  if (row.kind == Kind::rate && rate != nullptr && !(*rate >= kLeastRate && *rate <= kMostRate))
    return "it is not between 0.001 and 1G messages a second";
  for (const std::uint64_t number : numbers_in(value))
    if (number < row.least || (row.most > 0 && number > row.most))
      return fmt::format("{} is out of range; {}", number_text(row, number), range_text(row));
  if (const auto* const text = std::get_if<std::string>(&value)) return objection_to_text(row, *text);
  const auto* const range = std::get_if<DurationRange>(&value);
  if (range != nullptr && range->most < range->least) return "the shorter time comes first";
  return std::nullopt;
}

std::optional<Conflict> conflict_in(SettingRows rows, const SettingTexts& given, GivenIn place) {
  for (const Setting& one : rows)
    if (!one.excludes.empty() && given.contains(one.key) && given.contains(one.excludes))
      return Conflict{std::string(one.key), exclusion(rows, one, place)};
  return std::nullopt;
}

void apply(SettingRows rows, const SettingTexts& given, void* all, const void* standard) {
  const auto reset = [&](const Setting& row) { row.write(all, row.read(standard)); };
  for (const Setting& one : rows) {
    if (one.excludes.empty()) continue;
    if (given.contains(one.key)) reset(row_of(rows, one.excludes));
    if (given.contains(one.excludes)) reset(one);
  }
  for (const auto& [key, text] : given) {
    const Setting& row = row_of(rows, key);
    if (const auto value = parse_setting(row, text)) row.write(all, *value);
  }
  for (const Setting& one : rows)
    if (!given.contains(one.key) && !has_meaning(one, all)) reset(one);
}

std::optional<std::string> objection_to(SettingRows rows, const void* all, const void* standard,
                                        GivenIn place) {
  const auto differs = [&](const Setting& row) { return row.read(all) != row.read(standard); };
  const auto is_given = [&](const Setting& row) { return differs(row) && has_value(row.read(all)); };
  for (const Setting& row : rows)
    if (const auto problem = objection_to(row, row.read(all)); problem && differs(row))
      return fmt::format("{}: {}", row.flags(), *problem);
  for (const Setting& row : rows)
    if (!row.excludes.empty() && is_given(row) && is_given(row_of(rows, row.excludes)))
      return exclusion(rows, row, place);
  for (const Setting& row : rows)
    if (!has_meaning(row, all) && differs(row)) return unmet_need(rows, row, place);
  return std::nullopt;
}

std::vector<std::string> setting_flags(SettingRows rows, const void* all, const void* standard) {
  std::vector<std::string> words;
  for (const Setting& row : rows) {
    const SettingValue value = row.read(all);
    if (!has_value(value) || value == row.read(standard)) continue;
    words.push_back(row.name_in(GivenIn::flags));
    if (!row.is_switch()) words.push_back(setting_text(row, value));
  }
  return words;
}

std::string standard_text(const Setting& row, const void* standard) {
  return row.standard.empty() ? setting_text(row, row.read(standard)) : std::string(row.standard);
}

Json settings_json(SettingRows rows, const void* all) {
  Json document = Json::object();
  for (const Setting& row : rows)
    if (Json value = value_json(row.read(all)); !value.is_null() || row.may_be_null)
      document[row.json] = std::move(value);
  return document;
}

SettingValue value_in_document(const Setting& row, const Json& value) {
  switch (row.kind) {
    case Kind::count:
    case Kind::bytes:
      if (value.is_number_unsigned()) return value.get<std::uint64_t>();
      break;
    case Kind::rate:
    case Kind::percent:
    case Kind::ratio:
      if (value.is_number()) return value.get<double>();
      break;
    case Kind::time:
      if (value.is_number()) return time_from(value);
      break;
    case Kind::times:
      if (value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number())
        return DurationRange{time_from(value[0]), time_from(value[1])};
      break;
    case Kind::toggle:
      if (value.is_boolean()) return value.get<bool>();
      break;
    case Kind::word:
    case Kind::text:
      if (value.is_string()) return value.get<std::string>();
      break;
  }
  return {};
}

}  // namespace joust
