// SPDX-License-Identifier: MIT
//
// What a client does with the answers that a good server seldom gives, with answers that are none, and with
// those that were damaged on the way.
#include "files/transfer/answering.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using test::Joined;
using test::TransferAnswers;

// The server has it all from an earlier attempt, and would take silence for a lost client.
TEST_F(TransferAnswers, TellsHowFarADigestIsThatTakesLong) {
  const std::string from = source("new", "");
  fs::resize_file(from, std::uint64_t{1} << 30);
  SendTransfer sending(plan_of({from}));
  std::vector<std::uint64_t> told;
  run(
      sending,
      [&](const file::Message& message) -> std::optional<file::Body> {
        if (const auto* offer = std::get_if<file::Offer>(&message.body))
          return file::Offered{.there = offer->size};
        if (const auto* working = std::get_if<file::Working>(&message.body)) told.push_back(working->done);
        if (const auto* seal = std::get_if<file::Seal>(&message.body))
          return file::Stored{{0, seal->size}, true, seal->digest};
        return std::nullopt;
      },
      std::chrono::hours(1));
  EXPECT_EQ(sending.counts().files, 1U);
  EXPECT_GE(told.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_GT(told.back(), 0U);
}

// The connection that sealed it is gone, and the server holds it until it notices the loss of the others.
TEST_F(TransferAnswers, WaitsForAServerThatHoldsTheFileForAMinute) {
  const std::string text = content(kRangeBytes + 5);
  SendTransfer sending(plan_of({source("new", text)}));
  int asked = 0;
  ByteRange range;
  const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
    if (std::holds_alternative<file::Offer>(message.body)) {
      if (++asked <= 250) return file::Error{{FileError::busy, ""}};  // 62.5 s
      return file::Offered{};
    }
    if (const auto* upload = std::get_if<file::UploadRange>(&message.body)) range = upload->range;
    if (std::holds_alternative<file::End>(message.body)) return file::Stored{.range = range};
    if (std::holds_alternative<file::Seal>(message.body))
      return file::Stored{.complete = true, .digest = joust::test::digest_of(text)};
    return std::nullopt;
  };
  run(sending, answer, std::chrono::minutes(3));
  EXPECT_TRUE(sending.over());
  EXPECT_EQ(sending.counts().files, 1U);
  EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
  EXPECT_EQ(asked, 251);
}

TEST_F(TransferAnswers, WaitsForAServerThatHasNoPlaceForSmallFiles) {
  std::vector<std::string> files;
  for (int i = 0; i < 5; ++i) files.push_back(source("f" + std::to_string(i), "text"));
  for (const int refusals : {12, 1'000'000}) {
    SendTransfer sending(plan_of(files));
    int asked = 0;
    const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
      if (!std::holds_alternative<file::End>(message.body)) return std::nullopt;
      if (++asked <= refusals) return file::Error{{FileError::busy, ""}};
      return file::Stored{.complete = true, .digest = joust::test::digest_of("text")};
    };
    run(sending, answer, std::chrono::minutes(3));
    EXPECT_TRUE(sending.over());
    EXPECT_EQ(sending.counts().files, refusals == 12 ? 5U : 0U);
    EXPECT_EQ(sending.counts().failed, refusals == 12 ? 0U : 5U) << "at some time it is enough";
    EXPECT_LE(asked, 5 * 402) << "not all the time";
  }
}

// Each connection is another one, and the next asks like the first.
TEST_F(TransferAnswers, GivesUpALargeFileThatABusyServerClosesTheConnectionOf) {
  for (const bool takes_one : {false, true}) {
    const std::string text = content(kRangeBytes + 5);
    SendTransfer sending(plan_of({source("new", text)}));
    std::optional<ByteRange> range;
    bool is_open = false, has_one = false;
    const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
      if (!is_open) return std::nullopt;
      if (takes_one && std::holds_alternative<file::Offer>(message.body)) return file::Offered{};
      if (const auto* upload = std::get_if<file::UploadRange>(&message.body); upload && !has_one) {
        range = upload->range;
        return std::nullopt;
      }
      if (std::holds_alternative<file::End>(message.body) && range) {
        has_one = true;
        return file::Stored{.range = *std::exchange(range, std::nullopt)};
      }
      if (std::holds_alternative<file::Data>(message.body)) return std::nullopt;
      is_open = false;
      return file::Error{{FileError::busy, "later"}};
    };
    int connections = 0;
    for (; !sending.over() && connections < 1000; ++connections) {
      is_open = true;
      run(sending, answer, std::chrono::milliseconds(200));
    }
    EXPECT_GT(connections, 300) << "an upload of a connection that is gone may take a minute to end";
    EXPECT_LT(connections, 520);
    EXPECT_EQ(sending.counts().failed, 1U);
    EXPECT_EQ(sending.complaints(), std::vector<std::string>{"new: the server says: busy (later)"});
    EXPECT_EQ(sending.kept(), takes_one ? std::uint64_t{1} << 20 : 0U) << "to be gone on with";
  }
}

TEST_F(TransferAnswers, GivesUpAFileThatTheServerKeepsForgetting) {
  SendTransfer sending(plan_of({source("new", content(kRangeBytes + 5))}));
  int offers = 0;
  const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
    if (std::holds_alternative<file::UploadRange>(message.body))
      return file::Error{{FileError::not_found, ""}};
    if (std::holds_alternative<file::Offer>(message.body) && ++offers < 1000) return file::Offered{};
    return std::nullopt;
  };
  run(sending, answer, std::chrono::seconds(20));
  EXPECT_TRUE(sending.over());
  EXPECT_EQ(sending.counts().failed, 1U);
  EXPECT_LT(offers, 20);
  ASSERT_EQ(sending.complaints().size(), 1U);
  EXPECT_NE(sending.complaints()[0].find("knows nothing of it"), std::string::npos)
      << sending.complaints()[0];
}

// The server blames whatever request is under way, and ends the connection.
TEST_F(TransferAnswers, ABlamedFileIsSentOverTheNextConnection) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{kRangeBytes + 5}}) {
    SendTransfer sending(plan_of({source("new", content(size))}));
    const auto blamed = [](const file::Message& message) -> std::optional<file::Body> {
      if (std::holds_alternative<file::Offer>(message.body)) return file::Offered{};
      if (!std::holds_alternative<file::End>(message.body)) return std::nullopt;
      return file::Error{{FileError::too_slow, "an incomplete upload grows slower than 1.00 KiB/s"}};
    };
    run(sending, blamed, std::chrono::seconds(1));
    EXPECT_FALSE(sending.over());
    EXPECT_EQ(sending.counts().retries, 1U);
    Joined(sending, server()).run();
    EXPECT_EQ(sending.counts().files, 1U);
    EXPECT_EQ(sending.counts().failed, 0U);
    EXPECT_TRUE(joust::test::text_of(path("new")) == content(size));
    fs::remove(path("new"));
  }
}

// Whoever listens at a wrong address must not keep the user waiting; a server that hangs for once is asked
// again.
TEST_F(TransferAnswers, ASilentServerThatHasNeverAnsweredIsGivenUpAtTheSecondDial) {
  const auto silent = [](const file::Message&) -> std::optional<file::Body> { return std::nullopt; };
  const std::string expected = "here:1: no answer within 10.0 s: is it there?";
  GetTransfer getting(fetch_of("there"));
  SendTransfer small(plan_of({source("small", "text")})),
      large(plan_of({source("large", content(kRangeBytes + 5))}));
  for (Transfer* const transfer :
       {static_cast<Transfer*>(&getting), static_cast<Transfer*>(&small), static_cast<Transfer*>(&large)}) {
    transfer->expect({.first = 1}, {.address = "here:1", .if_silent = ": is it there?"});
    run(*transfer, silent, std::chrono::milliseconds(9900));
    EXPECT_FALSE(transfer->over());
    run(*transfer, silent, std::chrono::milliseconds(10'400));
    EXPECT_FALSE(transfer->over());
    run(*transfer, silent, std::chrono::milliseconds(10'400));
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->complaints(), std::vector<std::string>{expected});
  }
}

// It may have gone through the buffers of the kernel at once, and still be on its way.
TEST_F(TransferAnswers, TheAnswerToManyBytesMayComeLater) {
  SendTransfer sending(plan_of({source("new", content(5'000'000))}));
  const auto silent = [](const file::Message&) -> std::optional<file::Body> { return std::nullopt; };
  run(sending, silent, std::chrono::seconds(29));
  EXPECT_FALSE(sending.over());
  run(sending, silent, std::chrono::seconds(31));
  run(sending, silent, std::chrono::seconds(31));
  EXPECT_TRUE(sending.over());
}

// It says that it is at work, or has answered before: then it may be silent for longer, and is dialled again.
TEST_F(TransferAnswers, AServerThatHasAnsweredMayBeSilentForLonger) {
  for (const bool offered : {false, true}) {
    SendTransfer sending(plan_of({source("new", content(kRangeBytes + 5))}));
    const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
      if (!std::holds_alternative<file::Offer>(message.body)) return std::nullopt;
      return offered ? file::Body(file::Offered{}) : file::Body(file::Working{});
    };
    run(sending, answer, std::chrono::seconds(29));
    EXPECT_FALSE(sending.over());
    EXPECT_EQ(sending.counts().retries, 0U);
    run(sending, answer, std::chrono::seconds(70));
    EXPECT_FALSE(sending.over());
    EXPECT_EQ(sending.counts().retries, 1U);
  }
}

// A server that takes no more connections leaves it waiting in the kernel.
TEST_F(TransferAnswers, AConnectionThatWasNeverAnsweredKeepsItsWorkFromOthersForTenSeconds) {
  SendTransfer sending(plan_of({source("new", content(kRangeBytes + 5))}));
  const auto working = [](const file::Message&) -> std::optional<file::Body> { return file::Working{}; };
  const auto silent = [](const file::Message&) -> std::optional<file::Body> { return std::nullopt; };
  run(sending, working, std::chrono::seconds(1));
  run(sending, silent, std::chrono::milliseconds(9900));
  EXPECT_EQ(sending.counts().retries, 0U);
  run(sending, silent, std::chrono::milliseconds(10'400));
  EXPECT_EQ(sending.counts().retries, 1U);
  EXPECT_FALSE(sending.over());
}

// It may be the file that was sent before the connection was lost, and may be another one.
TEST_F(TransferAnswers, SaysThatAServerDoesNotTellWhatIsThere) {
  SendTransfer sending(plan_of({source("new", "text")}));
  { Joined(sending, server(), Pair::whole, 1).lose(); }
  const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
    if (std::holds_alternative<file::Query>(message.body)) return file::Error{{FileError::not_permitted, ""}};
    if (std::holds_alternative<file::End>(message.body)) return file::Error{{FileError::exists, ""}};
    return std::nullopt;
  };
  run(sending, answer, std::chrono::seconds(5));
  ASSERT_EQ(sending.complaints().size(), 1U);
  EXPECT_NE(sending.complaints()[0].find("does not tell whether it is this file"), std::string::npos)
      << sending.complaints()[0];
}

// A file is said to exist, and when it is asked for there is none; or nothing is told of it.
TEST_F(TransferAnswers, AServerThatContradictsItselfIsAskedOnce) {
  for (const std::size_t size : {std::size_t{4}, kRangeBytes + 5})
    for (const bool denies : {true, false}) {
      SendTransfer sending(plan_of({source("new", content(size))}));
      const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
        if (std::holds_alternative<file::Query>(message.body))
          return denies ? file::Body(file::Error{{FileError::not_found, ""}}) : file::Facts{size, 1, {}, {}};
        const bool asks_to_store = std::holds_alternative<file::End>(message.body) ||
                                   std::holds_alternative<file::Offer>(message.body);
        return asks_to_store ? std::optional<file::Body>(file::Error{{FileError::exists, ""}}) : std::nullopt;
      };
      run(sending, answer, std::chrono::seconds(10));
      EXPECT_TRUE(sending.over());
      EXPECT_EQ(sending.counts().failed, 1U);
      EXPECT_EQ(sending.complaints().size(), 1U);
    }
}

// After the first that is there, files are asked for, so that those of an interrupted transfer do not travel
// once more.
TEST_F(TransferAnswers, AsksBeforeItSendsWhileFilesAreThere) {
  constexpr std::size_t kFiles = 40, kThere = 20;
  const std::string text = content(1 << 20);
  Digester digester;
  digester.add(as_bytes(text));
  const Digest digest = digester.value();
  fs::create_directory(folder_.file("tree"));
  for (std::size_t i = 10; i < 10 + kFiles; ++i) source("tree/" + std::to_string(i), text);
  std::size_t sent = 0;
  std::string name;
  const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
    const auto is_there = [](const std::string& path) { return std::stoul(path.substr(5)) < 10 + kThere; };
    if (const auto* whole = std::get_if<file::Whole>(&message.body)) {
      ++sent;
      name = whole->name;
    }
    if (const auto* query = std::get_if<file::Query>(&message.body)) {
      if (is_there(query->name)) return file::Facts{text.size(), 1, digest, {}};
      return file::Error{{FileError::not_found, ""}};
    }
    if (std::holds_alternative<file::Folder>(message.body)) return file::Stored{.complete = true};
    if (!std::holds_alternative<file::End>(message.body)) return std::nullopt;
    if (is_there(name)) return file::Error{{FileError::exists, ""}};
    return file::Stored{{0, text.size()}, true, digest};
  };
  SendTransfer sending(plan_of({folder_.file("tree")}));
  run(sending, answer, std::chrono::seconds(60));
  EXPECT_TRUE(sending.over());
  EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
  EXPECT_EQ(sending.counts().skipped, kThere);
  EXPECT_EQ(sending.counts().files, kFiles - kThere);
  EXPECT_LT(sent, kFiles - kThere + 5) << "those that were on their way before the first answer";
}

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
