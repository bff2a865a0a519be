// SPDX-License-Identifier: MIT
#include "cli/common/arguments.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "load/settings.hpp"
#include "race/model/scenario.hpp"

namespace joust {
namespace {

constexpr bool is_unlimited(std::uint64_t most) {
  return most == UINT64_MAX;
}
constexpr bool is_unlimited(Duration /*most*/) {
  return false;
}

// Returns what is wrong with a number that has a unit; empty if it is between its limits, and taken.
template <typename Into, typename Value, typename Parse, typename Format>
std::string take_scaled(const std::string& text, Into& into, Value least, Value most, Parse parse,
                        Format format) {
  const auto value = parse(text);
  const bool is_beyond = !value && value.error().ends_with(kTooLarge);
  if (!value && (!is_beyond || is_unlimited(most))) return value.error();
  if (is_beyond || *value < least || *value > most)
    return fmt::format("{} is not between {} and {}", text, format(least), format(most));
  into = *value;
  return {};
}

template <typename Into, typename Value, typename Parse, typename Format>
Option add_scaled(Command command, const std::string& flags, Into& into, const std::string& help, Value least,
                  Value most, Parse parse, Format format) {
  const auto take = [&into, least, most, parse, format](const std::string& text) {
    return take_scaled(text, into, least, most, parse, format);
  };
  return command.add_option(flags, take, help);
}

std::string plain(std::uint64_t number) {
  return fmt::format("{}", number);
}

}  // namespace

Option add_count(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least, std::uint64_t most) {
  return add_scaled(command, flags, into, help, least, most, parse_count, plain).type_name("N");
}

Option add_bytes(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least, std::uint64_t most) {
  return add_scaled(command, flags, into, help, least, most, parse_bytes, format_size).type_name("BYTES");
}

void add_memory_limit(Command command, std::optional<std::uint64_t>& into) {
  constexpr auto kHelp =
      "for connections (for the values of resp: --maxmemory), beyond what the server has at its start; "
      "above, connections are ended: those that use most, of the address that uses most [a quarter of what "
      "is available]";
  add_scaled(command, "--max-memory", into, kHelp, std::uint64_t{1 << 20}, std::uint64_t{1} << 50,
             parse_bytes, format_size)
      .type_name("BYTES");
}

Option add_duration(Command command, const std::string& flags, Duration& into, const std::string& help,
                    Duration least, Duration most) {
  return add_scaled(command, flags, into, help, least, most, parse_duration, format_duration)
      .type_name("TIME");
}

namespace {

std::string with_standard(const std::string& help, const Setting& row, const void* standard) {
  const std::string usual = standard_text(row, standard);
  return usual.empty() ? help : fmt::format("{} [{}]", help, usual);
}

std::string help_of_load(const Setting& row, const LoadPlan& standard, bool of_race) {
  std::string help(row.help);
  if (of_race && !row.in_race.empty()) help += fmt::format("; {}", row.in_race);
  return with_standard(help, row, &standard);
}

std::string objection_to_load(const Setting& row, const std::string& text) {
  const auto value = parse_setting(row, text);
  return value ? "" : value.error();
}

// Return what an option with such a value would say of the text; empty: it would take it.
std::string objection_to_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  return take_scaled(text, number, least, most, parse_count, plain);
}

std::string objection_to_duration(const std::string& text, Duration least, Duration most) {
  Duration time{};
  return take_scaled(text, time, least, most, parse_duration, format_duration);
}

std::string objection_to_own(const Setting& row, const std::string& text) {
  using Kind = Setting::Kind;
  if (row.kind == Kind::count) return objection_to_count(text, row.least, row.most);
  if (row.kind == Kind::time)
    return objection_to_duration(text, Duration(row.least),
                                 row.most == 0 ? kLongestTime : Duration(row.most));
  if (text.empty()) return "the value is empty";
  return row.words.empty() ? "" : objection_to_load(row, text);
}

}  // namespace

Option SettingArguments::add(Command command, const Setting& row, const std::string& help, Check check) {
  const auto take = [this, &row, check](const std::string& text) -> std::string {
    std::string wrong = check(row, text);
    if (wrong.empty()) given.insert_or_assign(std::string(row.key), text);
    return wrong;
  };
  if (!row.is_switch()) return command.add_option(row.flags(), take, help).type_name(row.value_word());
  return command.add_flag(
      row.flags(), [take] { take("true"); }, help);
}

void SettingArguments::add_load(Command command, const LoadPlan& standard, bool of_race,
                                const std::string& group) {
  for (const Setting& row : load_settings()) {
    if (of_race && !row.raced) continue;
    Option option = add(command, row, help_of_load(row, standard, of_race), objection_to_load);
    if (!group.empty()) option.group(group);
  }
}

void SettingArguments::add_own(Command command, const Setting& row, const race::Scenario& standard) {
  add(command, row, with_standard(std::string(row.help), row, &standard), objection_to_own)
      .group(std::string(row.heading));
}

}  // namespace joust
