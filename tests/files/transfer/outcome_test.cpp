// SPDX-License-Identifier: MIT
//
// What counts as a success, and when lost connections are dialled again.
#include <cerrno>

#include "files/transfer/transfer_fixture.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using joust::test::text_of;
using test::Joined;

using TransferOutcome = test::Transferring;

// A sender who removes the source afterwards would lose the file.
TEST_F(TransferOutcome, CountsWhatItCannotSendAsFailed) {
  fs::create_directories(folder_.file("tree/" + std::string(1, '\x01')));
  source("tree/good", "text");
  source("tree/.joust-own", "text");
  source("tree/.joust-partial-1", "text");
  source("tree/\x01/file", "text");
  fs::create_symlink("good", folder_.file("tree/link"));
  const auto list = list_sources({folder_.file("tree")}, true, "");
  ASSERT_TRUE(list) << list.error();
  EXPECT_EQ(list->notes.size(), 2U) << "the link and what a transfer has left, by intention";
  SendPlan plan = plan_of({folder_.file("tree")});
  plan.wishes.makes_parents = true;
  SendTransfer sending(std::move(plan));
  Joined(sending, server()).run();
  EXPECT_TRUE(sending.over());
  EXPECT_EQ(sending.counts().files, 1U);
  EXPECT_EQ(sending.counts().failed, 2U);
  ASSERT_EQ(sending.complaints().size(), 2U);
  EXPECT_NE(sending.complaints()[1].find(".joust-own"), std::string::npos) << sending.complaints()[1];
  EXPECT_EQ(text_of(path("tree/good")), "text");
}

// After the listing and before the file is opened.
TEST_F(TransferOutcome, SendsNothingThroughALinkThatIsPutInTheWay) {
  for (const std::size_t size : {std::size_t{6}, std::size_t{kRangeBytes + 5}}) {
    for (const char* folder : {"tree/sub/deep", "elsewhere/deep"})
      fs::create_directories(folder_.file(folder));
    const std::string mine = content(size), secret(size, 's');
    for (const char* name : {"tree/a", "tree/b", "tree/sub/deep/c"}) source(name, mine);
    for (const char* name : {"elsewhere/b", "elsewhere/deep/c"}) source(name, secret);
    SendPlan plan = plan_of({folder_.file("tree")});
    plan.wishes.makes_parents = true;
    ASSERT_EQ(plan.items.size(), 6U) << "three directories";
    fs::remove(folder_.file("tree/b"));
    fs::create_symlink(folder_.file("elsewhere/b"), folder_.file("tree/b"));
    fs::remove_all(folder_.file("tree/sub"));
    fs::create_directory_symlink(folder_.file("elsewhere"), folder_.file("tree/sub"));
    SendTransfer sending(std::move(plan));
    Joined(sending, server()).run();
    EXPECT_EQ(sending.counts().files, 1U);
    EXPECT_EQ(sending.counts().failed, 2U);
    EXPECT_TRUE(text_of(path("tree/a")) == mine);
    EXPECT_FALSE(fs::exists(path("tree/b")));
    EXPECT_FALSE(fs::exists(path("tree/sub/deep/c")));
    for (const std::string& folder : {folder_.file("tree"), folder_.file("elsewhere"), path("tree")})
      fs::remove_all(folder);
  }
}

// What the user names himself may be a link.
TEST_F(TransferOutcome, FollowsTheLinksThatItIsGiven) {
  fs::create_directory(folder_.file("tree"));
  source("tree/a", "text");
  fs::create_directory_symlink("tree", folder_.file("folder"));
  fs::create_symlink("tree/a", folder_.file("file"));
  SendPlan plan = plan_of({folder_.file("folder"), folder_.file("file")});
  plan.wishes.makes_parents = true;
  SendTransfer sending(std::move(plan));
  Joined(sending, server()).run();
  EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
  EXPECT_EQ(text_of(path("folder/a")), "text");
  EXPECT_EQ(text_of(path("file")), "text");
}

TEST_F(TransferOutcome, IsNoSuccessIfADirectoryHasTheName) {
  std::ofstream(path("there")) << "text";
  fs::create_directory(folder_.file("fetched"));
  GetPlan plan = fetch_of("there");
  plan.wishes.skips_existing = true;
  GetTransfer getting(plan);
  Joined(getting, server()).run();
  EXPECT_EQ(getting.counts().skipped, 0U);
  EXPECT_EQ(getting.counts().failed, 1U);
  ASSERT_EQ(getting.complaints().size(), 1U);
  EXPECT_NE(getting.complaints()[0].find("not a file"), std::string::npos) << getting.complaints()[0];
}

TEST_F(TransferOutcome, IsNoSuccessIfNothingCouldBeSent) {
  SendTransfer sending({.missing = {"a: unreadable"}});
  EXPECT_TRUE(sending.over());
  EXPECT_EQ(sending.counts().failed, 1U);
  EXPECT_EQ(sending.complaints(), std::vector<std::string>{"a: unreadable"});
}

TEST_F(TransferOutcome, TellsHowManyComplaintsThereAreBesideThoseItTells) {
  SendPlan plan;
  for (int i = 0; i < 25; ++i) plan.missing.push_back(std::to_string(i));
  const SendTransfer sending(std::move(plan));
  EXPECT_EQ(sending.complaints().size(), 21U);
  EXPECT_EQ(sending.complaints().back(), "and 5 more");
}

struct Stranger {
  std::string says, words;
};

std::vector<Stranger> strangers() {
  const file::Error later{{FileError::version, "version 7 is spoken here"}};
  const std::string no_server = "here:1: what answers there does not speak the file protocol";
  return {{"SSH-2.0-OpenSSH", no_server},
          {"SSH", no_server},
          {"HTTP/1.1 400 Bad Request\r\n\r\n", no_server},
          {"jabber: who is there?", no_server},
          {"\x15 is no alert", no_server},
          {std::string("\x15\x03\x03\x00\x02\x02\x0a", 7), "here:1: the server speaks TLS"},
          {"\x01 is another version", "another version of joust"},
          {std::string(as_text(file::encode({0, later}))), "(version 7 is spoken here)"}};
}

// A connection to a stranger whose first `cut` bytes come before the rest; with 0 each byte comes by itself.
void hear(Session& session, const std::string& says, std::size_t cut) {
  const Time now{std::chrono::hours(1)};
  session.on_open(now);
  Bytes rest = as_bytes(says);
  for (std::size_t next = std::max<std::size_t>(cut, 1); !rest.empty() && !session.finished();) {
    session.on_bytes(rest.first(std::min(rest.size(), next)), now);
    rest = rest.subspan(std::min(rest.size(), next));
    next = cut == 0 ? 1 : rest.size();
  }
}

// What is said there will be said again: no second dial.
TEST_F(TransferOutcome, IsKnownAtOnceWhereAStrangerAnswers) {
  for (const Stranger& stranger : strangers())
    for (std::size_t cut = 0; cut <= stranger.says.size(); ++cut) {
      GetTransfer getting(fetch_of("there"));
      getting.expect({.first = 1}, {.address = "here:1"});
      hear(*getting.open({}), stranger.says, cut);
      EXPECT_TRUE(getting.over());
      EXPECT_EQ(getting.counts().retries, 0U);
      ASSERT_EQ(getting.complaints().size(), 1U);
      EXPECT_NE(getting.complaints()[0].find(stranger.words), std::string::npos)
          << getting.complaints()[0] << ", cut at " << cut;
    }
}

// Too few bytes to tell what it is.
TEST_F(TransferOutcome, IsKnownWhereAStrangerLeavesInTheMiddleOfAWord) {
  GetTransfer getting(fetch_of("there"));
  getting.expect({.first = 1}, {.address = "here:1"});
  const auto session = getting.open({});
  hear(*session, "\x15", 1);
  EXPECT_FALSE(getting.over());
  session->on_peer_finished(Time{std::chrono::hours(1)});
  EXPECT_TRUE(getting.over());
  ASSERT_EQ(getting.complaints().size(), 1U);
  EXPECT_NE(getting.complaints()[0].find("the server speaks TLS"), std::string::npos);
}

class Plain : public Transfer {
 public:
  using Transfer::Transfer;
  std::unique_ptr<Session> open(const ConnectionInfo&) override { return nullptr; }
};

TEST(TransferRetries, AreNotNeededWhileAnotherFirstConnectionMayOpen) {
  const Failure failure{Stage::connect, ECONNREFUSED, ""};
  Time now{std::chrono::hours(1)};
  Plain transfer(2);
  transfer.expect({.first = 3});
  transfer.not_opened(failure, now);
  EXPECT_FALSE(transfer.over());
  ASSERT_TRUE(transfer.redial(now));
  EXPECT_GT(transfer.redial(now)->at, now) << "no order: nobody may be there";
  transfer.connected();
  EXPECT_EQ(transfer.redial(now)->at, now) << "an order";
  EXPECT_FALSE(transfer.redial(now)) << "for one connection";
  EXPECT_EQ(transfer.counts().retries, 1U);
  EXPECT_TRUE(transfer.complaints().empty());
}

TEST(TransferRetries, AreNotMadeWhereNobodyIs) {
  Plain transfer(2);
  transfer.expect({.first = 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(transfer.over());
    transfer.not_opened({Stage::connect, ECONNREFUSED, ""}, Time{std::chrono::hours(1)});
  }
  EXPECT_TRUE(transfer.over());
  EXPECT_EQ(transfer.complaints().size(), 1U);
}

// The guard tells of what happens before a session is made.
TEST(TransferRetries, AreNotMadeAfterARefusal) {
  for (const bool is_guarded : {true, false}) {
    Plain transfer(8);
    transfer.expect({.first = 4}, {.address = "here:1"});
    const Failure refusal{Stage::verify, 0, "another token"};
    const Time now{std::chrono::hours(1)};
    is_guarded ? transfer.not_opened(refusal, now) : transfer.lost(refusal, false, now);
    EXPECT_TRUE(transfer.over());
    EXPECT_EQ(transfer.complaints(), std::vector<std::string>{"here:1: another token"});
  }
}

TEST(TransferRetries, AreMadeAfterARefusalOfAServerThatHasAnswered) {
  Plain transfer(8);
  transfer.answered();
  transfer.lost({Stage::verify, 0, "a flipped bit"}, false, Time{std::chrono::hours(1)});
  EXPECT_FALSE(transfer.over());
}

TEST(TransferRetries, AreMadeWhereAHandshakeIsCut) {
  Plain transfer(8);
  transfer.expect({.first = 1});
  transfer.not_opened({Stage::receive, 0, "closed"}, Time{std::chrono::hours(1)});
  EXPECT_FALSE(transfer.over());
  EXPECT_TRUE(transfer.redial(Time{std::chrono::hours(1)}));
  EXPECT_EQ(transfer.counts().retries, 1U);
}

class Growing : public Plain {
 public:
  using Plain::Plain;
  using Transfer::dial_more;
};

TEST(TransferDials, AreMoreWhenThereIsWorkForThem) {
  const Time now{std::chrono::hours(1)};
  Growing transfer(2);
  transfer.expect({.first = 1, .later = 3});
  ASSERT_TRUE(transfer.redial(now));
  EXPECT_GT(transfer.redial(now)->at, now + std::chrono::minutes(1)) << "there is none";
  transfer.connected();
  transfer.dial_more(2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(transfer.redial(now)->at, now) << "an order";
  EXPECT_GT(transfer.redial(now)->at, now);
  transfer.lost({Stage::receive, ECONNRESET, ""}, false, now);
  transfer.dial_more(5);
  EXPECT_EQ(transfer.redial(now + std::chrono::seconds(1))->at, now + std::chrono::seconds(1));
  EXPECT_EQ(transfer.redial(now + std::chrono::seconds(1))->at, now + std::chrono::seconds(1));
  EXPECT_FALSE(transfer.redial(now + std::chrono::seconds(1))) << "the lost one, and one of five";
  EXPECT_EQ(transfer.counts().retries, 1U);
}

TEST(TransferRetries, AreCountedInARow) {
  Time now{std::chrono::hours(1)};
  Plain transfer(2);
  transfer.connected();
  const Failure failure{Stage::receive, ECONNRESET, ""};
  const auto lose = [&] {
    transfer.lost(failure, false, now);
    const auto redial = transfer.redial(now);
    if (redial) now = redial->at;
    return redial.has_value();
  };
  EXPECT_TRUE(lose());
  EXPECT_EQ(transfer.redial(now)->at, now) << "an order";
  EXPECT_FALSE(transfer.redial(now)) << "for one connection";
  EXPECT_TRUE(lose());
  transfer.progressed();
  EXPECT_TRUE(lose());
  transfer.moved(1);  // bytes that may count for nothing
  EXPECT_TRUE(lose());
  EXPECT_FALSE(transfer.over());
  EXPECT_FALSE(lose());
  EXPECT_TRUE(transfer.over());
  EXPECT_EQ(transfer.complaints().size(), 1U);
}

}  // namespace
}  // namespace joust::transfer
