// SPDX-License-Identifier: MIT
#include "report/load_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace joust {
namespace {

nlohmann::ordered_json messages_of(const LoadResult& result) {
  nlohmann::ordered_json document;
  add_load(document, result);
  return document["messages"];
}

TEST(LoadJson, HasWhatWasLostWhereItCanBe) {
  LoadResult result;
  result.messages.sent = 10;
  result.messages.lost = 3;
  result.messages.late = 2;
  result.messages.duplicated = 1;
  EXPECT_FALSE(messages_of(result).contains("lost"));
  result.lossy = true;
  const nlohmann::ordered_json messages = messages_of(result);
  EXPECT_EQ(messages["lost"], 3);
  EXPECT_EQ(messages["late"], 2);
  EXPECT_EQ(messages["duplicated"], 1);
}

}  // namespace
}  // namespace joust
