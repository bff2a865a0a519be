// SPDX-License-Identifier: MIT
//
// The settings of a load: what holds for every row of the table.
#include "load/settings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "load/settings.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = LoadSetting::Kind;

// A text that is not the default.
std::string other_value(const LoadSetting& setting) {
  switch (setting.kind) {
    case Kind::count:
    case Kind::bytes:
      return "77";
    case Kind::rate:
      return "1234.5";
    case Kind::time:
      return "1500ms";
    case Kind::times:
      return "20ms..3s";
    case Kind::toggle:
      return "true";
    case Kind::text:
      return "a text";
    case Kind::percent:
    case Kind::ratio:
    case Kind::word:
      break;
  }
  return setting.words.back();
}

TEST(LoadSettings, HaveNamesOfTheirOwn) {
  std::set<std::string_view> keys, letters, names;
  for (const LoadSetting& setting : load_settings()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_TRUE(names.insert(setting.json).second) << setting.key;
    EXPECT_TRUE(setting.letter.empty() || letters.insert(setting.letter).second) << setting.key;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
  }
}

TEST(LoadSettings, ComeBackFromTextFlagsAndDocuments) {
  for (const LoadSetting& setting : load_settings()) {
    const std::string text = other_value(setting);
    const auto value = parse_setting(setting, text);
    ASSERT_TRUE(value) << setting.key << ": " << value.error();
    LoadPlan plan;
    EXPECT_NE(*value, setting.get(plan)) << setting.key;
    setting.set(plan, *value);
    EXPECT_EQ(setting.get(plan), *value) << setting.key;
    EXPECT_EQ(parse_setting(setting, setting_text(setting, *value)), value) << setting.key;
    std::vector<std::string> flags{setting.letter.empty() ? setting.flag()
                                                          : fmt::format("-{}", setting.letter)};
    if (setting.kind != Kind::toggle) flags.push_back(setting_text(setting, *value));
    EXPECT_EQ(load_flags(plan, LoadPlan()), flags);
    const auto read = plan_from(plan_json(plan).dump());
    ASSERT_TRUE(read) << setting.key << ": " << read.error();
    EXPECT_EQ(setting.get(*read), *value) << setting.key;
    EXPECT_EQ(plan_json(*read), plan_json(plan)) << setting.key;
  }
}

TEST(LoadSettings, BeyondTheirLimitsAreRefusedInWords) {
  for (const LoadSetting& setting : load_settings()) {
    const bool is_number = setting.kind == Kind::count || setting.kind == Kind::bytes;
    if (is_number && setting.most < std::numeric_limits<std::int64_t>::max()) {
      const auto value = parse_setting(setting, fmt::format("{}", setting.most + 1));
      ASSERT_FALSE(value) << setting.key;
      EXPECT_TRUE(value.error().contains("is out of range; allowed: ")) << value.error();
    }
    if (setting.kind == Kind::text) {
      for (const char* nonsense : {"", "two\nlines"}) EXPECT_FALSE(parse_setting(setting, nonsense));
      continue;
    }
    for (const char* nonsense : {"", "-1", "many", "1e400"})
      EXPECT_FALSE(parse_setting(setting, nonsense)) << setting.key << " = " << nonsense;
  }
}

TEST(LoadSettings, ReplaceWhatTheyExclude) {
  LoadPlan standard{.connections = 64, .duration = seconds(1)};
  LoadPlan plan = standard;
  apply({{"messages", "300"}, {"interval", "10ms"}, {"phase", "together"}}, plan, standard);
  EXPECT_EQ(plan.messages, 300U);
  EXPECT_EQ(plan.interval, milliseconds(10));
  apply({{"duration", "2s"}, {"rate", "5k"}, {"arrivals", "poisson"}}, plan, standard);
  EXPECT_EQ(plan.window(), seconds(2));
  EXPECT_EQ(plan.rate_per_s, 5000);
  EXPECT_EQ(plan.interval, Duration{});
  EXPECT_EQ(plan.phase, LoadPlan::Phase::together) << "it has a meaning still";
  apply({{"interval", "0"}}, plan, standard);
  EXPECT_FALSE(plan.open_loop());
  EXPECT_EQ(plan.arrivals, std::nullopt) << "without a rate it has no meaning";
  EXPECT_EQ(plan.phase, LoadPlan::Phase::spread);
  EXPECT_EQ(plan.connections, 64U);
}

TEST(LoadSettings, ThatExcludeEachOtherAreNotGivenTogether) {
  const auto conflict = [](const SettingTexts& given, GivenIn place) {
    return conflict_in(given, place).value_or(Conflict{});
  };
  const SettingTexts two_ends{{"messages", "1"}, {"duration", "1s"}};
  EXPECT_EQ(conflict({{"messages", "1"}, {"rate", "5"}}, GivenIn::scenario).text, "");
  EXPECT_EQ(conflict(two_ends, GivenIn::scenario).text,
            "messages and duration exclude each other: one of them ends the load");
  EXPECT_EQ(conflict(two_ends, GivenIn::flags).text,
            "-m and -d exclude each other: one of them ends the load");
  EXPECT_EQ(conflict({{"rate", "1"}, {"interval", "1s"}}, GivenIn::scenario).key, "rate");
}

TEST(LoadSettings, ThatExcludeEachOtherAreRefusedInADocumentInAnyOrder) {
  const auto problem = [](const char* text) {
    const auto plan = plan_from(text);
    return plan ? "none" : plan.error();
  };
  const std::string ends = "messages and duration_s exclude each other: one of them ends the load";
  EXPECT_EQ(problem("{\"messages\": 5, \"duration_s\": 1}"), ends);
  EXPECT_EQ(problem("{\"duration_s\": 1, \"messages\": 5}"), ends);
  EXPECT_EQ(problem("{\"messages\": 5, \"duration_s\": null}"), "none");
  EXPECT_EQ(problem("{\"rate_per_s\": 5, \"interval_s\": 0}"), "none") << "so has the result of such a load";
  EXPECT_EQ(problem("{\"interval_s\": 1, \"rate_per_s\": 5}"),
            "rate_per_s and interval_s exclude each other: a rate is the open loop, an interval the closed "
            "schedule");
}

TEST(LoadSettings, APlanIsCheckedAsAWhole) {
  EXPECT_FALSE(objection_to(LoadPlan{}));
  const auto problem = [](const LoadPlan& plan) { return objection_to(plan).value_or("none"); };
  EXPECT_EQ(problem({.depth = 100'001}), "--depth: 100,001 is out of range; allowed: 1 to 100,000");
  EXPECT_EQ(problem({.connections = 0}), "-c,--connections: 0 is out of range; allowed: 1 to 1,000,000");
  EXPECT_EQ(problem({.interval = seconds(1), .depth = 4}), "none") << "slots of a schedule";
  EXPECT_EQ(problem({.rate_per_s = -1}), "-R,--rate: it is not between 0.001 and 1G messages a second");
  EXPECT_EQ(problem({.arrivals = LoadPlan::Arrivals::poisson}),
            "arrivals needs a rate: without one no message has a time to arrive at");
  EXPECT_EQ(problem({.tls = true, .tls_ca = "ca.pem", .tls_insecure = true}),
            "tls_insecure and tls_ca exclude each other: one verifies certificates, the other takes any");
  EXPECT_EQ(problem({.reconnect_for = seconds(1)}), "reconnect_for needs reconnect always");
  EXPECT_EQ(objection_to({.reconnect_for = seconds(1)}, GivenIn::flags),
            "--reconnect-for needs --reconnect always");
  EXPECT_EQ(problem({.reconnect = LoadPlan::Reconnect::always,
                     .backoff_least = seconds(2),
                     .backoff_most = seconds(1)}),
            "--backoff: the shorter time comes first");
  EXPECT_TRUE(problem({.connections = 1'000'000, .rate_per_s = 1}).contains("less than once a day"));
}

TEST(LoadSettings, ADocumentThatIsNoneIsRefused) {
  const auto problem = [](const char* text) {
    const auto plan = plan_from(text);
    return plan ? "none" : plan.error();
  };
  EXPECT_EQ(problem("[]"), "it is no JSON object");
  EXPECT_EQ(problem("{\"connections\": \"7\"}"), "connections: the value is of a wrong type");
  EXPECT_EQ(problem("{\"connections\": -7}"), "connections: the value is of a wrong type");
  EXPECT_EQ(problem("{\"backoff_s\": [1]}"), "backoff_s: the value is of a wrong type");
  EXPECT_EQ(problem("{\"duration_s\": 1e300}"),
            "duration_s: 9223372036854775807ns is out of range; allowed: 1ms to 86400s");
  EXPECT_EQ(problem("{\"size\": 7}"), "'size' is no setting of a load");
  EXPECT_EQ(problem("{\"phase\": \"apart\"}"), "phase: 'apart' is not allowed; allowed: spread, together");
  const auto inside = plan_from("{\"schema\": \"joust-load/1\", \"plan\": {\"connections\": 7}}");
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->connections, 7U);
}

TEST(PlanJson, HasThePartOfALoadOfSeveralHosts) {
  const LoadPlan part{.connections = 2, .first_connection = 3, .all_connections = 5};
  const auto read = plan_from(passed_plan_json(part).dump());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->first_connection, 3U);
  EXPECT_EQ(read->all_connections, 5U);
  EXPECT_FALSE(passed_plan_json({.connections = 5}).contains("part")) << "one host makes the whole load";
  EXPECT_FALSE(plan_json(part).contains("part")) << "it is no setting";
  for (const char* wrong :
       {R"({"part":3})", R"({"part":{}})", R"({"part":{"first_connection":5,"all_connections":5}})"})
    EXPECT_FALSE(plan_from(wrong)) << wrong;
}

}  // namespace
}  // namespace joust
