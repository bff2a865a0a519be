// SPDX-License-Identifier: MIT
#include "race/scenario/load_toml.hpp"

#include "race/set_up/rates.hpp"

namespace joust::race {
namespace {

// Reads a list such as rates = ["30%", 5000].
std::vector<Rate> read_rates(TableReader& reader) {
  const toml::node* node = reader.node("rates");
  if (node == nullptr) return {};
  std::vector<std::string> words;
  if (const toml::array* array = node->as_array())
    for (const toml::node& each : *array) words.push_back(scalar_text(each).value_or(""));
  const std::vector<std::string_view> texts(words.begin(), words.end());
  const auto rates = parse_rates(texts);
  if (rates && !rates->empty()) return *rates;
  reader.wrong("rates",
               rates ? "wrong type; allowed: a list of rates (5000) and shares (\"30%\")" : rates.error());
  return {};
}

}  // namespace

void read_load(const toml::table* table, const std::string& path, Case& one, Problems& problems) {
  if (table == nullptr) return;
  TableReader reader(*table, path, problems);
  SettingTexts given;
  for (const Setting& setting : load_settings()) {
    if (!setting.raced) continue;
    const auto text = reader.scalar(setting.key);
    if (!text) continue;
    if (const auto value = parse_setting(setting, *text))
      given.emplace(setting.key, *text);
    else
      reader.wrong(setting.key, value.error());
  }
  if (const auto conflict = conflict_in(given, GivenIn::scenario)) {
    reader.wrong(conflict->key, conflict->text);
    given.erase(conflict->key);
  }
  const std::vector<Rate> rates = read_rates(reader);
  if (!rates.empty() && (given.contains("rate") || given.contains("interval")))
    reader.wrong("rates", "given beside rate or interval; allowed: one of them");
  replace(given, rates, one);
  reader.misplaced("protocol",
                   "no part of a load; allowed: protocol = at the top of the file, or in a [[case]]");
  reader.finish();
}

}  // namespace joust::race
