// SPDX-License-Identifier: MIT
#include "cli/common/load_arguments.hpp"

#include <fmt/format.h>

#include "base/words.hpp"

namespace joust {
namespace {

const char* type_of(const LoadSetting& setting) {
  using Kind = LoadSetting::Kind;
  switch (setting.kind) {
    case Kind::count:
      return "N";
    case Kind::bytes:
      return "BYTES";
    case Kind::rate:
      return "RATE";
    case Kind::time:
      return "TIME";
    case Kind::times:
      return "TIME[..TIME]";
    case Kind::text:
      return "TEXT";
    case Kind::toggle:
    case Kind::word:
      break;
  }
  return "WORD";
}

std::string help_of(const LoadSetting& setting, const LoadPlan& plan, bool of_race) {
  std::string help(setting.help);
  if (of_race && !setting.in_race.empty()) help += fmt::format("; {}", setting.in_race);
  if (!setting.words.empty()) help += ": " + join(setting.words, " or ");
  const std::string standard =
      setting.standard.empty() ? setting_text(setting, plan) : std::string(setting.standard);
  return standard.empty() ? help : fmt::format("{} [{}]", help, standard);
}

}  // namespace

void LoadArguments::add_to(Command command, const LoadPlan& standard, bool of_race,
                           const std::string& group) {
  for (const LoadSetting& setting : load_settings()) {
    if (of_race && !setting.raced) continue;
    const auto take = [this, &setting](const std::string& text) -> std::string {
      const auto value = parse_setting(setting, text);
      if (!value) return value.error();
      given.insert_or_assign(std::string(setting.key), text);
      return {};
    };
    const std::string help = help_of(setting, standard, of_race);
    const bool is_toggle = setting.kind == LoadSetting::Kind::toggle;
    Option option = is_toggle ? command.add_flag(
                                    setting.flags(), [take] { take("true"); }, help)
                              : command.add_option(setting.flags(), take, help);
    if (!is_toggle) option.type_name(type_of(setting));
    if (!group.empty()) option.group(group);
  }
}

}  // namespace joust
