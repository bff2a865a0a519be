// SPDX-License-Identifier: MIT
//
// Answers that are none, or were damaged on the way.
#include "files/transfer/answering.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using test::Joined;
using test::TransferAnswers;

// A server that sends back what it gets, say. Each such loss counts, so that it is not dialled for ever.
TEST_F(TransferAnswers, AWrongAnswerToASmallFileIsALoss) {
  SendPlan plan = plan_of({source("new", "text")});
  plan.most_retries = 0;
  SendTransfer sending(std::move(plan));
  const auto echo = [](const file::Message& message) { return std::optional(message.body); };
  run(sending, echo, std::chrono::seconds(1));
  EXPECT_TRUE(sending.over());
  ASSERT_EQ(sending.complaints().size(), 1U);
  EXPECT_NE(sending.complaints()[0].find("no answer"), std::string::npos) << sending.complaints()[0];
}

// It answers for another request than was sent, under the same number and with the same digest.
TEST_F(TransferAnswers, StoredForAnotherRequestIsALoss) {
  SendPlan plan = plan_of({source("new", "text")});
  plan.most_retries = 0;
  SendTransfer sending(std::move(plan));
  const auto answer = [](const file::Message& message) -> std::optional<file::Body> {
    if (!std::holds_alternative<file::End>(message.body)) return std::nullopt;
    return file::Stored{.complete = true, .digest = joust::test::digest_of("text"), .request_check = 1};
  };
  run(sending, answer, std::chrono::seconds(1));
  EXPECT_EQ(sending.counts().files, 0U);
  ASSERT_EQ(sending.complaints().size(), 1U);
  EXPECT_NE(sending.complaints()[0].find("no answer"), std::string::npos) << sending.complaints()[0];
}

// Either side notices it, and the server ends the connection then.
TEST_F(TransferAnswers, WhatIsDamagedOnTheWayComesOverTheNextConnection) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{kRangeBytes + 5}}) {
    SendTransfer sending(plan_of({source("new", content(size))}));
    const auto damaged = [](const file::Message&) -> std::optional<file::Body> {
      return file::Error{{FileError::damaged, "a frame"}};
    };
    run(sending, damaged, std::chrono::seconds(1));
    EXPECT_FALSE(sending.over());
    const auto session = sending.open({});
    session->on_open(Time{std::chrono::hours(1)});
    std::string answer = file::test::wire({1, file::Offered{}});
    answer.back() ^= 1;
    session->on_bytes(as_bytes(answer), Time{std::chrono::hours(1)});
    EXPECT_TRUE(session->finished());
    EXPECT_FALSE(sending.over());
    Joined(sending, server()).run();
    EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
    EXPECT_EQ(sending.counts().files, 1U);
    EXPECT_TRUE(joust::test::text_of(path("new")) == content(size));
    fs::remove(path("new"));
  }
}

}  // namespace
}  // namespace joust::transfer
