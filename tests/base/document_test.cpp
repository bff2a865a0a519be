// SPDX-License-Identifier: MIT
#include "base/document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

enum class Decision { differ, equal };
struct Summary {
  std::optional<double> ratio{};
  Rare<std::string> failure{};
  Rare<std::optional<double>> cost{};
};
struct Contestant {
  std::string name{}, case_{};
  Summary summary{};
  std::map<std::string, std::uint64_t> errors{};
};
struct Document {
  std::string schema = "joust-test/1";
  bool complete = false;
  int nice = 0;
  std::uint64_t seed = 0;
  std::uint8_t small = 0;
  double took_s = 0;
  Decision decision{};
  std::vector<Contestant> contestants{};
  Json plan = Json::object();
};

Document example() {
  return {.complete = true,
          .nice = -20,
          .seed = std::numeric_limits<std::uint64_t>::max(),
          .took_s = 1.5,
          .decision = Decision::equal,
          .contestants = {{.name = "a", .case_ = "one", .summary = {.ratio = 2.5}, .errors = {{"send", 3}}},
                          {.name = "b", .summary = {.failure = "it ended", .cost = std::optional<double>()}}},
          .plan = {{"rate", 1}}};
}

constexpr const char* kExample =
    R"({"schema":"joust-test/1","complete":true,"nice":-20,"seed":18446744073709551615,"small":0,)"
    R"("took_s":1.5,"decision":"equal","contestants":[)"
    R"({"name":"a","case":"one","summary":{"ratio":2.5},"errors":{"send":3}},)"
    R"({"name":"b","case":"","summary":{"ratio":null,"failure":"it ended","cost":null},"errors":{}}],)"
    R"("plan":{"rate":1}})";

// Returns the message for a document in which the value at a JSON pointer is another one.
std::string message_for(const char* pointer, const Json& value) {
  Json json = Json::parse(kExample);
  json[Json::json_pointer(pointer)] = value;
  try {
    from_document<Document>(json);
  } catch (const WrongDocument& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Document, HasTheMembersOfTheStructInTheirOrder) {
  EXPECT_EQ(to_document(example()).dump(), kExample);
}

TEST(Document, IsReadIntoTheSameStruct) {
  const auto read = from_document<Document>(Json::parse(kExample));
  EXPECT_EQ(to_document(read).dump(), kExample);
  EXPECT_EQ(read.nice, -20);
  EXPECT_EQ(read.decision, Decision::equal);
  EXPECT_FALSE(read.contestants[1].summary.ratio);
  EXPECT_TRUE(read.contestants[1].summary.cost);
  EXPECT_FALSE(read.contestants[0].summary.cost);
}

TEST(Document, IsOfWhateverAStructMayBorrow) {
  struct Borrowed {
    std::string_view name;
    const char* unit;
    std::span<const int> values;
  };
  const std::vector<int> values{1, 2};
  EXPECT_EQ(to_document(Borrowed{.name = "a", .unit = "ns", .values = values}).dump(),
            R"({"name":"a","unit":"ns","values":[1,2]})");
  EXPECT_EQ(to_document(std::vector<Decision>{Decision::differ}).dump(), R"(["differ"])");
}

TEST(Document, HasNullForNumbersThatAreNotFinite) {
  EXPECT_EQ(to_document(std::numeric_limits<double>::quiet_NaN()), Json(nullptr));
  EXPECT_EQ(to_document(std::vector{1.0, std::numeric_limits<double>::infinity()}).dump(), "[1.0,null]");
  EXPECT_EQ(message_for("/took_s", nullptr), "took_s: is null, and should be a number");
}

TEST(Document, IsRefusedWithTheWayToTheValue) {
  EXPECT_EQ(message_for("/contestants/1/summary/ratio", "fast"),
            "contestants[1].summary.ratio: is of type string, and should be a number");
  EXPECT_EQ(message_for("/contestants/0/errors/send", -1),
            "contestants[0].errors.send: is -1, and should be a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(message_for("/contestants/0", Json::array()),
            "contestants[0]: is of type array, and should be an object");
  EXPECT_EQ(message_for("/contestants/0", {{"name", "a"}}),
            "contestants[0].case: is missing, and should be there");
  EXPECT_EQ(message_for("", 1), "the document: is 1, and should be an object");
}

TEST(Document, IsRefusedForAValueOfAnotherTypeOrRange) {
  EXPECT_EQ(message_for("/complete", 1), "complete: is 1, and should be true or false");
  EXPECT_EQ(message_for("/small", 256), "small: is 256, and should be a whole number from 0 to 255");
  EXPECT_EQ(message_for("/small", 2.5), "small: is 2.5, and should be a whole number from 0 to 255");
  EXPECT_EQ(message_for("/decision", "both"), "decision: is 'both', and should be differ or equal");
  EXPECT_EQ(message_for("/schema", nullptr), "schema: is null, and should be a string");
  EXPECT_EQ(message_for("/contestants", "a"), "contestants: is of type string, and should be an array");
  EXPECT_EQ(message_for("/contestants/1/summary/failure", nullptr),
            "contestants[1].summary.failure: is null, and should be a string");
}

TEST(Document, MayHaveOtherKeysAndLackRareOnes) {
  EXPECT_EQ(message_for("/new", 1), "");
  const auto read = from_document<Summary>({{"ratio", nullptr}});
  EXPECT_FALSE(read.ratio);
  EXPECT_FALSE(read.failure);
  EXPECT_EQ(message_for("/contestants/0/summary", Json::object()),
            "contestants[0].summary.ratio: is missing, and should be there");
}

// A time in seconds in memory, and in milliseconds in documents.
struct Milliseconds {
  double s = 0;
};
// A range that is two members of its object: "delay_least" and "delay_most".
struct Range {
  int least = 0, most = 0;
};
struct Formed {
  std::string name{};
  Milliseconds delay_ms{};
  Range range{};
  Rare<Range> other{};
};

}  // namespace
namespace documents {

template <>
struct Form<Milliseconds> {
  static double of(const Milliseconds& time) { return time.s * 1e3; }
  static Milliseconds from(double ms, const std::string& way) {
    if (ms < 0) refuse(way, "negative", "a time");
    return {ms / 1e3};
  }
};

template <>
struct Form<Range> {
  static void add(Json& object, std::string_view name, const Range& range) {
    object[fmt::format("{}_least", name)] = range.least;
    object[fmt::format("{}_most", name)] = range.most;
  }
  static void take(const Json& object, const std::string& way, std::string_view name, Range& range) {
    read(object.at(fmt::format("{}_least", name)), way, range.least);
    read(object.at(fmt::format("{}_most", name)), way, range.most);
  }
};

}  // namespace documents
namespace {

TEST(Document, HasTheFormOfATypeThatHasOne) {
  const Formed formed{.name = "a", .delay_ms = {0.25}, .range = {1, 2}};
  const Json json = to_document(formed);
  EXPECT_EQ(json.dump(), R"({"name":"a","delay_ms":250.0,"range_least":1,"range_most":2})");
  const auto read = from_document<Formed>(json);
  EXPECT_EQ(read.delay_ms.s, 0.25);
  EXPECT_EQ(read.range.most, 2);
  EXPECT_FALSE(read.other);
  Json wrong = json;
  wrong["delay_ms"] = -1;
  EXPECT_THROW(from_document<Formed>(wrong), WrongDocument);
}

}  // namespace
}  // namespace joust
