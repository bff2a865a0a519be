// SPDX-License-Identifier: MIT
//
// What a row has from the member that it names.
#include "base/settings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace joust {
namespace {

using namespace std::chrono_literals;
using Kind = Setting::Kind;

enum class Paint : std::uint8_t { red, green };
struct Inner {
  std::optional<bool> quiet{};
  std::optional<std::string> name{};
};
struct Plan {
  std::uint64_t count = 3;
  std::optional<std::uint64_t> size{};
  double share = 0.03;
  double rate = 0;
  Duration pause = 10ms;
  Paint colour = Paint::red;
  std::optional<Paint> other{};
  std::string note{};
  bool loud = false, fast = true;
  Duration least = 1ms, most = 2ms;
  Inner inner{};
  bool is_loud() const { return loud; }
};

DurationRange get_range(const Plan& plan) {
  return {plan.least, plan.most};
}
void set_range(Plan& plan, const DurationRange& range) {
  plan.least = range.least;
  plan.most = range.most;
}

SettingRows rows() {
  static const std::array kAll{
      setting<&Plan::count>("count", {.letter = "c", .least = 1, .most = 1000}, "how many"),
      setting<&Plan::size>("size", {.most = 1 << 20, .unit = Unit::bytes}, "of one"),
      setting<&Plan::share>("share", {.unit = Unit::percent}, "of all"),
      setting<&Plan::rate>(
          "rate", {.unit = Unit::per_s, .excludes = "pause", .why_excluded = "one is enough"}, "a second"),
      setting<&Plan::pause>("pause", {.most = 1'000'000'000}, "between two"),
      setting<&Plan::colour>("colour", {}, "of all"),
      setting<&Plan::other>("other", {}, "of some"),
      setting<&Plan::note>("note", {.least = 1, .most = 5}, "for readers"),
      setting<&Plan::loud>("loud", {}, "be heard"),
      setting<&Plan::fast>("fast", {.on_off = true}, "hurry"),
      setting_by<get_range, set_range>(
          "range", {.has_meaning = when<&Plan::is_loud>, .needs_key = "loud", .needs = "too"}, "of pauses"),
      setting<&Plan::inner, &Inner::quiet>("quiet", {.on_off = true}, "say nothing"),
      setting<&Plan::inner, &Inner::name>("inner_name", {}, "of the inner one"),
  };
  return kAll;
}

const Setting& row(std::string_view key) {
  return row_of(rows(), key);
}

TEST(Settings, HaveTheirKindFromTheMember) {
  std::vector<Kind> kinds;
  for (const Setting& each : rows()) kinds.push_back(each.kind);
  EXPECT_EQ(kinds, (std::vector{Kind::count, Kind::bytes, Kind::percent, Kind::rate, Kind::time, Kind::word,
                                Kind::word, Kind::text, Kind::toggle, Kind::toggle, Kind::times, Kind::toggle,
                                Kind::text}));
  EXPECT_EQ(row("colour").words, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(row("other").words, row("colour").words);
  EXPECT_EQ(row("fast").words, (std::vector<std::string>{"on", "off"}));
  EXPECT_TRUE(row("loud").is_switch());
  EXPECT_FALSE(row("fast").is_switch());
}

TEST(Settings, AreDocumentsWithTheirUnits) {
  Plan plan;
  EXPECT_EQ(settings_json(rows(), &plan).dump(),
            R"({"count":3,"size_bytes":null,"share":0.03,"rate_per_s":null,"pause_s":0.01,"colour":"red",)"
            R"("other":null,"fast":true,"range_s":[0.001,0.002],"quiet":null,"inner_name":null})");
  plan = {.size = 7, .rate = 1.5, .other = Paint::green, .note = "n", .loud = true};
  plan.inner = {.quiet = false, .name = ""};
  const auto document = settings_json(rows(), &plan);
  EXPECT_EQ(document.dump(),
            R"({"count":3,"size_bytes":7,"share":0.03,"rate_per_s":1.5,"pause_s":0.01,"colour":"red",)"
            R"("other":"green","note":"n","loud":true,"fast":true,"range_s":[0.001,0.002],"quiet":false,)"
            R"("inner_name":""})");
  Plan read;
  for (const Setting& each : rows()) {
    const SettingValue value = value_in_document(each, document.at(each.json));
    EXPECT_EQ(value, each.get(plan)) << each.key;
    each.set(read, value);
  }
  EXPECT_EQ(settings_json(rows(), &read), document);
  EXPECT_EQ(value_in_document(row("count"), -1), SettingValue());
}

TEST(Settings, AreReadFromTheTextThatTheyAreWrittenAs) {
  const std::vector<std::pair<const char*, const char*>> texts{
      {"count", "1000"},    {"size", "77"},      {"share", "2.5%"}, {"rate", "1234.5"},
      {"pause", "250ms"},   {"colour", "green"}, {"other", "red"},  {"note", "short"},
      {"loud", "true"},     {"fast", "off"},     {"quiet", "on"},   {"range", "20ms..3s"},
      {"inner_name", "one"}};
  for (const auto& [key, text] : texts) {
    const auto value = parse_setting(row(key), text);
    ASSERT_TRUE(value) << key << ": " << value.error();
    EXPECT_EQ(setting_text(row(key), *value), text);
  }
}

TEST(Settings, SayWhatIsAllowed) {
  const auto problem = [](const char* key, const char* text) {
    const auto value = parse_setting(row(key), text);
    return value ? "none" : value.error();
  };
  EXPECT_EQ(problem("count", "0"), "0 is out of range; allowed: 1 to 1,000");
  EXPECT_EQ(problem("size", "2MiB"), "2 MiB is out of range; allowed: 0 B to 1 MiB");
  EXPECT_EQ(problem("pause", "2s"), "2s is out of range; allowed: 0s to 1s");
  EXPECT_EQ(problem("colour", "gren"), "'gren' is not allowed; allowed: red, green; did you mean 'green'?");
  EXPECT_EQ(problem("note", "longer"), "allowed: 1 to 5 bytes without control characters");
  EXPECT_EQ(problem("loud", "on"), "'on' is not allowed; allowed: true, false");
  EXPECT_EQ(problem("fast", "true"), "'true' is not allowed; allowed: on, off");
  EXPECT_EQ(problem("inner_name", ""), "none");
}

TEST(Settings, AreFlagsWhereTheyDiffer) {
  const Plan standard;
  EXPECT_TRUE(setting_flags(rows(), &standard, &standard).empty());
  Plan plan{.count = 9, .share = 0.02, .loud = true, .fast = false};
  plan.inner.name = "";
  EXPECT_EQ(
      setting_flags(rows(), &plan, &standard),
      (std::vector<std::string>{"-c", "9", "--share", "2%", "--loud", "--fast", "off", "--inner-name", ""}));
}

TEST(Settings, ThatExcludeOrNeedOthersAreRefused) {
  const Plan standard;
  const auto problem = [&](const Plan& plan) {
    return objection_to(rows(), &plan, &standard, GivenIn::flags).value_or("none");
  };
  EXPECT_EQ(problem({}), "none");
  EXPECT_EQ(problem({.rate = 5, .pause = 1ms}), "--rate and --pause exclude each other: one is enough");
  EXPECT_EQ(problem({.most = 3ms}), "--range needs --loud too");
  EXPECT_EQ(problem({.loud = true, .most = 3ms}), "none");
  EXPECT_EQ(problem({.count = 0}), "-c,--count: 0 is out of range; allowed: 1 to 1,000");
  Plan plan{.rate = 5, .loud = true};
  apply(rows(), {{"pause", "1ms"}, {"range", "3ms..4ms"}}, &plan, &standard);
  EXPECT_EQ(plan.rate, 0);
  EXPECT_EQ(plan.most, 4ms);
}

}  // namespace
}  // namespace joust
