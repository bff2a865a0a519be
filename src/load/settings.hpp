// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "joust/load_plan.hpp"

// The settings of a load, the rows of a LoadPlan.
namespace joust {

using LoadSetting = Setting;  // a row of load_settings()

SettingRows load_settings();
const Setting& load_setting(std::string_view key);  // of an existing key

// Returns the text that parse_setting() reads as the value in this plan; empty if it has none.
std::string setting_text(const Setting& setting, const LoadPlan& plan);

// See base/settings.hpp.
std::optional<Conflict> conflict_in(const SettingTexts& given, GivenIn place);
void apply(const SettingTexts& given, LoadPlan& plan, const LoadPlan& standard);
std::vector<std::string> load_flags(const LoadPlan& plan, const LoadPlan& standard);

// Returns why the plan is not possible: a value beyond its limits, a setting that has no meaning with the
// others, or a rate at which a connection would hardly ever send.
std::optional<std::string> objection_to(const LoadPlan& plan, GivenIn place = GivenIn::scenario);

}  // namespace joust
