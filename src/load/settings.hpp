// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "joust/load_plan.hpp"

// The settings of a load: the rows of a LoadPlan, and a plan as JSON.
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

// Returns the settings of a load in the form of the documents and of `load --plan`: times in seconds, null
// for a setting without a value.
nlohmann::ordered_json plan_json(const LoadPlan& plan);

// Returns the same for `load --plan`, with the place of the connections in a load of several hosts ("part").
nlohmann::ordered_json passed_plan_json(const LoadPlan& plan);

// Reads such settings, or the document of a result, which has them as "plan". A setting that is left out
// keeps its default. The error names the setting, or two that exclude each other.
std::expected<LoadPlan, std::string> plan_from(const std::string& document);

}  // namespace joust
