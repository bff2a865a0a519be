// SPDX-License-Identifier: MIT
//
// Messages between the processes of a run, and those of others who send in their name.
#include "hosts/seal.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hosts/agent.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

const std::string kKey = Token::make().text(), kOtherKey = Token::make().text();

class Sealed : public testing::Test {
 protected:
  const Seal seal_{kKey};
  const Seal::Message message_{.session = "s", .number = 7, .body = R"({"do":"clock"})"};
  const std::string text_ = seal_.sealed(0, 2, message_);
};

TEST_F(Sealed, IsOpenedByTheOneForWhomItIs) {
  const auto opened = seal_.opened(0, 2, text_);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->session, "s");
  EXPECT_EQ(opened->number, 7U);
  EXPECT_EQ(opened->body, message_.body);
}

TEST_F(Sealed, HasNoSessionBeforeItIsKnown) {
  const auto opened = seal_.opened(0, 1, seal_.sealed(0, 1, {.number = 1, .body = "x\ny"}));
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->session, "");
  EXPECT_EQ(opened->body, "x\ny");
}

TEST_F(Sealed, IsNothingOnAnotherWay) {
  EXPECT_FALSE(seal_.opened(0, 1, text_)) << "to another rank";
  EXPECT_FALSE(seal_.opened(2, 0, text_)) << "sent back";
  EXPECT_FALSE(seal_.opened(1, 2, text_)) << "of another rank";
}

TEST_F(Sealed, IsNothingWithAnotherKey) {
  EXPECT_FALSE(Seal(kOtherKey).opened(0, 2, text_));
  EXPECT_FALSE(seal_.opened(0, 2, message_.body));
  EXPECT_FALSE(seal_.opened(0, 2, ""));
}

TEST_F(Sealed, IsNothingWhereAnyByteIsAnother) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    std::string changed = text_;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(seal_.opened(0, 2, changed)) << i;
    EXPECT_FALSE(seal_.opened(0, 2, text_.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(seal_.opened(0, 2, text_ + "x"));
}

// An agent that counts how often it has worked.
class Obeying : public testing::Test {
 protected:
  // A request as the conductor sends it, in the session that it knows.
  std::string request(std::uint64_t number) const {
    const Json body{{"do", "work"}, {kNumber, number}};
    return seal_.sealed(0, kRank, {.session = session_, .number = number, .body = body.dump()});
  }

  // Returns the reply, and takes over its session.
  std::optional<Json> replied(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    const auto opened = seal_.opened(kRank, 0, *text);
    if (!opened) return std::nullopt;
    session_ = opened->session;
    return Json::parse(opened->body);
  }

  static constexpr int kRank = 3;
  int works_ = 0;
  const Handlers handlers_{{"work", [this](const Json&) {
                              ++works_;
                              return Json{{"done", true}};
                            }}};
  const Seal seal_{kKey};
  std::string session_{};
  Agent agent_{kRank, kKey, handlers_};
};

TEST_F(Obeying, BeginsWithASessionOfItsOwn) {
  const auto first = replied(agent_.reply_to(0, request(1)));
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->contains(kAnew));
  EXPECT_EQ(works_, 0);
  const auto again = replied(agent_.reply_to(0, request(1)));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->at("done"));
  EXPECT_EQ(again->at(kNumber), 1);
  EXPECT_EQ(works_, 1);
}

TEST_F(Obeying, DoesNothingForOthers) {
  replied(agent_.reply_to(0, request(1)));
  EXPECT_FALSE(agent_.reply_to(2, request(2))) << "another rank";
  EXPECT_FALSE(agent_.reply_to(0, R"({"do":"work","number":2})")) << "no seal";
  EXPECT_FALSE(agent_.reply_to(
      0, Seal(kOtherKey).sealed(0, kRank, {.session = session_, .number = 2, .body = R"({"do":"work"})"})));
  EXPECT_EQ(works_, 0);
}

TEST_F(Obeying, DoesNothingTwiceNorOutOfOrder) {
  replied(agent_.reply_to(0, request(1)));
  const std::string second = request(2), third = request(3);
  EXPECT_TRUE(agent_.reply_to(0, third));
  EXPECT_FALSE(agent_.reply_to(0, third)) << "again";
  EXPECT_FALSE(agent_.reply_to(0, second)) << "an earlier one";
  EXPECT_EQ(works_, 1);
}

TEST_F(Obeying, DoesNothingForAnEarlierProcess) {
  replied(agent_.reply_to(0, request(1)));
  const std::string earlier = request(2);
  Agent restarted(kRank, kKey, handlers_);
  const auto reply = replied(restarted.reply_to(0, earlier));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->contains(kAnew));
  EXPECT_EQ(works_, 0);
  EXPECT_TRUE(restarted.reply_to(0, request(3)));
  EXPECT_EQ(works_, 1);
}

}  // namespace
}  // namespace joust::hosts
