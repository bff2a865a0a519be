// SPDX-License-Identifier: MIT
#include "cli/common/setting_arguments.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/common/arguments.hpp"
#include "load/settings.hpp"
#include "race/model/scenario.hpp"

namespace joust {
namespace {

std::string with_standard(const std::string& help, const Setting& row, const void* standard) {
  const std::string usual = standard_text(row, standard);
  return usual.empty() ? help : fmt::format("{} [{}]", help, usual);
}

std::string help_of_load(const Setting& row, const LoadPlan& standard, bool of_race) {
  std::string help(row.help);
  if (of_race && !row.in_race.empty()) help += fmt::format("; {}", row.in_race);
  if (!row.words.empty()) help += ": " + join(row.words, " or ");
  return with_standard(help, row, &standard);
}

std::string objection_to_load(const Setting& row, const std::string& text) {
  const auto value = parse_setting(row, text);
  return value ? "" : value.error();
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
  if (!row.is_switch())
    return command.add_option(row.flags(), take, help).type_name(std::string(row.value_word()));
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
  Option option = add(command, row, with_standard(std::string(row.help), row, &standard), objection_to_own);
  if (!row.words.empty()) option.type_name(join(row.words, "|"));
  option.group(std::string(row.heading));
}

}  // namespace joust
