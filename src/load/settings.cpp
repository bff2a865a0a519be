// SPDX-License-Identifier: MIT
#include "load/settings.hpp"

#include <fmt/format.h>

namespace joust {

const Setting& load_setting(std::string_view key) {
  return row_of(load_settings(), key);
}

std::string setting_text(const Setting& setting, const LoadPlan& plan) {
  return setting_text(setting, setting.get(plan));
}

std::optional<Conflict> conflict_in(const SettingTexts& given, GivenIn place) {
  return conflict_in(load_settings(), given, place);
}

void apply(const SettingTexts& given, LoadPlan& plan, const LoadPlan& standard) {
  apply(load_settings(), given, &plan, &standard);
}

std::vector<std::string> load_flags(const LoadPlan& plan, const LoadPlan& standard) {
  return setting_flags(load_settings(), &plan, &standard);
}

std::optional<std::string> objection_to(const LoadPlan& plan, GivenIn place) {
  if (plan.rate_per_s != 0 && !plan.open_loop())
    return "-R,--rate: it is not between 0.001 and 1G messages a second";
  const LoadPlan standard;
  if (auto problem = objection_to(load_settings(), &plan, &standard, place)) return problem;
  if (plan.open_loop() && plan.mean_gap() > std::chrono::hours(24))
    return fmt::format(
        "-R,--rate: with {} messages a second each of {} connections would send less than once a day; use "
        "fewer connections (-c)",
        plan.rate_per_s, plan.connections);
  return std::nullopt;
}

}  // namespace joust
