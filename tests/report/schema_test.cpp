// SPDX-License-Identifier: MIT
#include "report/schema.hpp"

#include <gtest/gtest.h>

#include "doctor/findings.hpp"
#include "history/merging.hpp"
#include "history/store.hpp"
#include "load/percentiles.hpp"
#include "load/result_json.hpp"
#include "load/settings.hpp"
#include "report/golden.hpp"
#include "report/race_document.hpp"
#include "report/search_report.hpp"

namespace joust::report {

template <>
struct Written<Duration> {
  using As = std::int64_t;
};
template <>
struct Written<Time> {
  using As = std::int64_t;
};
template <>
struct Written<decltype(LoadResult::errors)> {
  using As = std::map<std::string, std::uint64_t>;
};
template <>
struct Written<LoadPlan> {
  using As = Json;
};
template <>
struct Written<Distribution> {
  static void add(Schema::Object& object, std::string_view name, bool is_required) {
    object.add_member<Percentiles>(name, is_required);
    object.add_member<Buckets>(buckets_key(name), false);  // races and searches leave them out
  }
};
// What the services of this program have.
template <>
struct Written<std::vector<ResultGroup>> {
  static void add(Schema::Object& object, std::string_view /*name*/, bool /*is_required*/) {
    for (const char* group : {"transfer", "datagrams", "gets", "deliveries"}) object.add_by_hand(group);
  }
};

namespace {

// The options of a search, which are no other choices of a load.
struct OptionsOfSearch {
  Rare<Settings> options{};
};

std::vector<Setting> raced_settings() {
  const SettingRows all = load_settings();
  std::vector<Setting> raced(all.begin(), all.end());
  std::erase_if(raced, [](const Setting& row) { return !row.raced; });
  return raced;
}

void define_results(Schema& schema) {
  LoadPlan by_time, by_number;
  by_time.request_timeout = by_number.request_timeout = std::chrono::seconds(5);  // a load that runs has one
  by_number.messages = 1;
  const std::vector<LoadPlan> plans{by_time, by_number};
  schema.define<document::Race>("race");
  schema.define_settings("case", "load", raced_settings(), plans, {"rate_share"});
  schema.define<document::TransferTrial>("transfer_trial");
  // The members of a load of several hosts are made by hand (cli/common/merged_load.cpp).
  schema.define<LoadProgram, LoadResult, LoadChoices>("load", {"hosts", "start_spread_ns", "servers"});
  schema.define_settings("load", "plan", load_settings(), plans);
  schema.define<LoadProgram, SearchDocument, OptionsOfSearch>("search");
}

// A schema that differs from what the structs say is renewed by JOUST_APPROVE=1. A new member then needs a
// description there.
void expect_renewed(const std::string& name, void (*define)(Schema&)) {
  std::ostringstream file;
  file << std::ifstream(std::string(JOUST_SOURCE_DIR) + "/docs/" + name).rdbuf();
  Schema schema(file.str());
  define(schema);
  expect_golden(schema.text(), "../../docs/" + name);
  for (const std::string& complaint : schema.complaints()) ADD_FAILURE() << name << ": " << complaint;
}

TEST(Schemas, AreWhatTheStructsSay) {
  expect_renewed("result.schema.json", define_results);
  expect_renewed("history.schema.json", [](Schema& schema) { schema.define<history::Entry>("entry"); });
  expect_renewed("merge.schema.json", [](Schema& schema) { schema.define<history::RaceOfMany>("race"); });
  expect_renewed("doctor.schema.json", [](Schema& schema) { schema.define<doctor::Finding>("finding"); });
}

enum class Colour : std::uint8_t { red, green };
struct Lamp {
  std::string name{};
  std::optional<Colour> colour{};
  Rare<std::vector<double>> volts{};
};

TEST(Schemas, KeepWhatTheStructDoesNotTell) {
  Schema schema(R"({"$defs": {"lamp": {"description": "A lamp.", "properties": {
      "volts": {"description": "Of its phases.", "type": "string", "items": {"maximum": 9}},
      "colour": {"description": "That it has.", "enum": ["blue"]},
      "weight": {"description": "It has none any more."},
      "name": {"description": "Its name.", "pattern": "^L"}}, "required": ["volts"]}}})");
  schema.define<Lamp>("lamp");
  EXPECT_EQ(Json::parse(schema.text()), Json::parse(R"({"$defs": {"lamp": {"description": "A lamp.",
      "type": "object", "properties": {
      "name": {"description": "Its name.", "type": "string", "pattern": "^L"},
      "colour": {"description": "That it has.", "enum": ["red", "green", null]},
      "volts": {"description": "Of its phases.", "type": "array", "items": {"type": "number", "maximum": 9}}},
      "required": ["name", "colour", "volts"], "additionalProperties": false}}})"));
  EXPECT_TRUE(schema.complaints().empty());
}

TEST(Schemas, AMemberWithoutADescriptionIsNamed) {
  Schema schema(R"({"$defs": {"lamp": {"properties": {"name": {"description": "Its name."},
                                                      "colour": {"description": "That it has."}}}}})");
  schema.define<Lamp>("lamp");
  EXPECT_EQ(schema.complaints(), std::vector<std::string>{"volts needs a description in the schema"});
}

}  // namespace
}  // namespace joust::report
