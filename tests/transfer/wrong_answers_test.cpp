// SPDX-License-Identifier: MIT
//
// Answers that are none, or were damaged on the way.
#include "transfer/answering.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using test::Joined;
using test::TransferAnswers;

// A server that sends back what it gets, say. Each such loss counts, so that it is not dialled for ever.
TEST_F(TransferAnswers, AWrongAnswerToASmallFileIsALoss) {
  BringPlan plan = plan_of({source("new", "text")});
  plan.most_retries = 0;
  Bring bring(std::move(plan));
  const auto echo = [](const file::Message& message) { return std::optional(message.body); };
  run(bring, echo, std::chrono::seconds(1));
  EXPECT_TRUE(bring.over());
  ASSERT_EQ(bring.complaints().size(), 1U);
  EXPECT_NE(bring.complaints()[0].find("no answer"), std::string::npos) << bring.complaints()[0];
}

// It answers for another request than was sent, under the same number and with the same digest.
TEST_F(TransferAnswers, StoredForAnotherRequestIsALoss) {
  BringPlan plan = plan_of({source("new", "text")});
  plan.most_retries = 0;
  Bring bring(std::move(plan));
  const auto answer = [](const file::Message& message) -> std::optional<file::Body> {
    if (!std::holds_alternative<file::End>(message.body)) return std::nullopt;
    return file::Stored{.complete = true, .digest = joust::test::digest_of("text"), .request_check = 1};
  };
  run(bring, answer, std::chrono::seconds(1));
  EXPECT_EQ(bring.counts().files, 0U);
  ASSERT_EQ(bring.complaints().size(), 1U);
  EXPECT_NE(bring.complaints()[0].find("no answer"), std::string::npos) << bring.complaints()[0];
}

// Either side notices it, and the server ends the connection then.
TEST_F(TransferAnswers, WhatIsDamagedOnTheWayComesOverTheNextConnection) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{kRangeBytes + 5}}) {
    Bring bring(plan_of({source("new", content(size))}));
    const auto damaged = [](const file::Message&) -> std::optional<file::Body> {
      return file::Error{{FileError::damaged, "a frame"}};
    };
    run(bring, damaged, std::chrono::seconds(1));
    EXPECT_FALSE(bring.over());
    const auto session = bring.open({});
    session->on_open(Time{std::chrono::hours(1)});
    std::string answer = file::test::wire({1, file::Offered{}});
    answer.back() ^= 1;
    session->on_bytes(as_bytes(answer), Time{std::chrono::hours(1)});
    EXPECT_TRUE(session->finished());
    EXPECT_FALSE(bring.over());
    Joined(bring, server()).run();
    EXPECT_TRUE(bring.complaints().empty()) << bring.complaints().front();
    EXPECT_EQ(bring.counts().files, 1U);
    EXPECT_TRUE(joust::test::text_of(path("new")) == content(size));
    fs::remove(path("new"));
  }
}

}  // namespace
}  // namespace joust::transfer
