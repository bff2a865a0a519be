// SPDX-License-Identifier: MIT
#include "load/settings.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/document.hpp"

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

namespace {

using Json = nlohmann::ordered_json;

// The key of the place of a load among those of several hosts.
constexpr const char* kPart = "part";

// A result has every time of its plan. Without an interval that of the interval is 0. A switch may be off.
bool is_none(const SettingValue& value) {
  return value == SettingValue(Duration{}) || value == SettingValue(false);
}

// Reads the part of a load that a host makes. Returns false for a wrong value.
bool take_part(const Json& value, LoadPlan& plan) {
  const Json first = value.is_object() ? value.value("first_connection", Json()) : Json(),
             all = value.is_object() ? value.value("all_connections", Json()) : Json();
  if (!first.is_number_unsigned() || !all.is_number_unsigned()) return false;
  plan.first_connection = first;
  plan.all_connections = all;
  return plan.first_connection < plan.all_connections;
}

const Setting* setting_of(const std::string& name) {
  for (const Setting& setting : load_settings())
    if (setting.json == name) return &setting;
  return nullptr;
}

}  // namespace

Json plan_json(const LoadPlan& plan) {
  return settings_json(load_settings(), &plan);
}

Json passed_plan_json(const LoadPlan& plan) {
  Json document = plan_json(plan);
  if (plan.all_connections > 0)
    document[kPart] = {{"first_connection", plan.first_connection},
                       {"all_connections", plan.all_connections}};
  return document;
}

std::expected<LoadPlan, std::string> plan_from(const std::string& document) {
  const Json whole = documents::parsed(document);
  if (!whole.is_object()) return std::unexpected("it is no JSON object");
  const Json settings = whole.value("plan", whole);
  if (!settings.is_object()) return std::unexpected("its plan is no JSON object");
  LoadPlan plan;
  SettingTexts given;
  for (const auto& [name, value] : settings.items()) {
    if (name == kPart) {
      if (!take_part(value, plan)) return std::unexpected(fmt::format("{}: it is no part of a load", name));
      continue;
    }
    const Setting* const setting = setting_of(name);
    if (setting == nullptr) return std::unexpected(fmt::format("'{}' is no setting of a load", name));
    if (value.is_null()) continue;
    const SettingValue read = value_in_document(*setting, value);
    if (std::holds_alternative<std::monostate>(read))
      return std::unexpected(fmt::format("{}: the value is of a wrong type", name));
    if (const auto problem = objection_to(*setting, read))
      return std::unexpected(fmt::format("{}: {}", name, *problem));
    setting->set(plan, read);
    if (!is_none(read)) given.emplace(setting->key, setting_text(*setting, read));
  }
  // Results of earlier versions have this in closed loops, too.
  if (!plan.open_loop() && plan.arrivals == LoadPlan::Arrivals::constant) {
    plan.arrivals.reset();
    given.erase("arrivals");
  }
  if (const auto conflict = conflict_in(given, GivenIn::document)) return std::unexpected(conflict->text);
  return plan;
}

}  // namespace joust
