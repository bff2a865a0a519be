// SPDX-License-Identifier: MIT
//
// The race's own settings: what holds for every row of their tables.
#include "race/scenario/race_settings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "race/fake_catalogue.hpp"
#include "race/scenario/overrides.hpp"
#include "race/scenario_fixture.hpp"

namespace joust::race {
namespace {

using Kind = Setting::Kind;

// Texts of a flag that are not the default, one that is possible and one that is not.
std::pair<std::string, std::string> texts_of(const Setting& row) {
  switch (row.kind) {
    case Kind::count:
    case Kind::bytes:
      return {"77", "-1"};
    case Kind::time:
      return {"1500ms", "100us"};
    case Kind::percent:
      return {"12%", "0%"};
    case Kind::ratio:
      return {"0.75", "11"};
    case Kind::toggle:
      return {row.on_off ? "off" : "true", "maybe"};
    case Kind::word:
      return {row.words.back(), "maybe"};
    default:
      return {row.key == "reference" ? "epoll" : "0-1", row.objection == nullptr ? "" : "0-"};
  }
}

// The text as a value of a scenario.
std::string in_file(const Setting& row, const std::string& text) {
  if (row.kind == Kind::count || row.kind == Kind::bytes) return text;
  if (row.kind == Kind::toggle && text != "maybe") return text == "off" ? "false" : text;
  return '"' + text + '"';
}

std::string document_with(const Setting& row, std::string_view table, const std::string& value) {
  const std::string line = fmt::format("{} = {}\n", row.key_in_file(), value);
  return table.empty() ? fmt::format("{}matrix = {{ servers = [\"threads\", \"epoll\"] }}\n", line)
                       : fmt::format("matrix = {{ servers = [\"epoll\"] }}\n[{}]\n{}", table, line);
}

TEST(RaceSettings, HaveNamesOfTheirOwn) {
  for (const SettingRows rows : {race_settings(), socket_settings()}) {
    std::set<std::string_view> keys;
    for (const Setting& row : rows) {
      EXPECT_TRUE(keys.insert(row.key).second) << row.key;
      EXPECT_FALSE(row.help.empty()) << row.key;
      EXPECT_TRUE(row.in_file || !row.heading.empty()) << row.key << " can be given nowhere";
    }
  }
}

TEST_F(ScenarioFile, ASettingOfTheRaceIsTheSameFromAFlagAndAFile) {
  for (const Setting& row : race_settings()) {
    const std::string text = texts_of(row).first;
    const auto value = parse_setting(row, text);
    ASSERT_TRUE(value) << row.key << ": " << value.error();
    EXPECT_EQ(setting_text(row, *value), text) << row.key;
    if (!row.heading.empty()) {
      Scenario scenario = fake_scenario({"threads", "epoll"});
      Overrides given{.servers = {}, .clients = {}, .own = {{std::string(row.key), text}}};
      if (row.key == "undecided") given.own["fail_below"] = "0.9";
      const auto done = apply(given, scenario, fake_catalogue());
      ASSERT_TRUE(done) << row.key << ": " << done.error();
      EXPECT_EQ(row.get(scenario), *value) << row.key;
    }
    if (!row.in_file) continue;
    const auto scenario = read(document_with(row, row.table, in_file(row, text)));
    ASSERT_TRUE(scenario) << scenario.error();
    EXPECT_EQ(row.get(*scenario), *value) << row.key;
  }
}

TEST_F(ScenarioFile, ASettingOfTheRaceIsRefusedWhereItIsWrong) {
  for (const Setting& row : race_settings()) {
    const std::string text = texts_of(row).second;
    if (row.kind == Kind::text && text.empty()) continue;  // any text will do
    EXPECT_FALSE(parse_setting(row, text)) << row.key;
    if (!row.in_file) continue;
    const std::string key = std::string(row.table) + (row.table.empty() ? "" : ".");
    EXPECT_TRUE(problem(document_with(row, row.table, in_file(row, text)))
                    .contains(fmt::format("key '{}{}': ", key, row.key_in_file())))
        << row.key;
  }
}

TEST_F(ScenarioFile, ASocketHasItsSettingsFromTheDocumentOrACase) {
  for (const Setting& row : socket_settings()) {
    const std::string text = row.kind == Kind::text ? "cubic" : texts_of(row).first;
    const auto scenario = read(document_with(row, "socket", in_file(row, text)));
    ASSERT_TRUE(scenario) << scenario.error();
    EXPECT_EQ(setting_text(row, row.get(scenario->socket)), text);
    EXPECT_EQ(setting_text(row, row.get(scenario->cases.front().socket)), text);
  }
}

}  // namespace
}  // namespace joust::race
