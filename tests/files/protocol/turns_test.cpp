// SPDX-License-Identifier: MIT
//
// Transfers in turns (LoadPlan::counted_turns), each connection a pair of sessions in memory.
#include "files/protocol/load_fixture.hpp"
#include "load/result.hpp"

namespace joust::file {
namespace {

using joust::test::digest_of;
using joust::test::text_of;
using std::chrono::milliseconds;

class FileTurns : public test::FileLoadTest {
 protected:
  void connect(std::size_t connections, const test::Options& client, const test::Options& server = {}) {
    test::Options serving{{"root", folder_.file("root")}};
    for (const auto& [name, value] : server) serving[name] = value;
    run_ =
        std::make_unique<LoadRun>(LoadPlan{.connections = connections, .turns = true, .counted_turns = true});
    run_->observe(
        [this](LoadRun::Milestone milestone) { rested_ += milestone == LoadRun::Milestone::rested; });
    answering_ = make_server(test::with(Role::serve, serving));
    asking_ = make_client(test::with(Role::dial, client), *run_);
    for (std::size_t i = 0; i < connections; ++i)
      pairs_.push_back(std::make_unique<Pair>(asking_->open({}), answering_->open({})));
    pass();
  }
  void pass() {
    for (int i = 0; i < 50; ++i)
      for (const auto& pair : pairs_) pair->pass(milliseconds(1));
  }
  // True if it has come to its end.
  bool turn(std::uint64_t transfers, bool recorded = true) {
    const int before = rested_;
    run_->begin_counted_turn(pairs_.front()->now(), transfers, recorded);
    pass();
    return rested_ == before + 1 && !run_->turn_under_way();
  }
  void stop() {
    for (const auto& pair : pairs_) pair->left().on_drain(pair->now());
    pass();
  }
  std::string figure(const std::string& name) const { return test::figure(asking_->results(), name); }
  Recorder::Counts counts() const { return run_->recorder().counts(); }
  void TearDown() override {
    pairs_.clear();
    for (const std::string& complaint : run_->complaints()) EXPECT_EQ(complaint, expected_complaint_);
    asking_.reset();
    answering_.reset();
    FileLoadTest::TearDown();
  }

  std::unique_ptr<LoadRun> run_;
  std::unique_ptr<Service> answering_, asking_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  int rested_ = 0;
  std::string expected_complaint_;
};

TEST_F(FileTurns, ATurnIsOneTransferOfEachConnection) {
  std::ofstream(path("text")) << content(100'000);
  connect(3, {{"name", "text"}});
  EXPECT_EQ(counts().sent, 0U) << "at rest";
  for (unsigned turns = 1; turns <= 4; ++turns) {
    EXPECT_TRUE(turn(1));
    EXPECT_EQ(counts().verified, 3 * turns);
  }
  stop();
  for (const auto& pair : pairs_) EXPECT_TRUE(pair->over());
  EXPECT_EQ(figure("bytes"), "1200000");
  EXPECT_EQ(figure("transfers"), "12");
  EXPECT_EQ(figure("digest"), to_hex(digest_of(content(100'000))))
      << "a stop between turns is the ordinary end";
  EXPECT_TRUE(conclude(*run_, {}, false, pairs_.front()->now()).clean());
}

TEST_F(FileTurns, ConnectionsShareTheRangesOfATransfer) {
  std::ofstream(path("text")) << content(100'003);
  connect(3, {{"name", "text"}, {"segments", "8"}, {"sink", "memory"}});
  EXPECT_TRUE(turn(2));
  EXPECT_EQ(counts().verified, 16U);
  EXPECT_TRUE(turn(1));
  EXPECT_EQ(counts().verified, 24U);
  stop();
  EXPECT_EQ(figure("transfers"), "3");
  EXPECT_EQ(figure("digest"), to_hex(digest_of(content(100'003))));
}

TEST_F(FileTurns, UploadsReplaceTheFileTurnAfterTurn) {
  connect(2, {{"op", "put"}, {"bytes", "50000"}, {"name", "new"}, {"segments", "2"}}, {{"overwrite", "yes"}});
  for (int turns = 0; turns < 3; ++turns) EXPECT_TRUE(turn(1));
  EXPECT_EQ(counts().verified, 6U);
  EXPECT_EQ(text_of(path("new")).size(), 50'000U);
  stop();
  for (const auto& pair : pairs_) EXPECT_TRUE(pair->over());
  EXPECT_EQ(figure("transfers"), "3");
}

TEST_F(FileTurns, WhatIsNotRecordedLeavesNoTrace) {
  connect(2, {{"op", "put"}, {"bytes", "50000"}, {"name", "new"}});
  EXPECT_TRUE(turn(2, false));
  EXPECT_FALSE(std::filesystem::exists(path("new"))) << "a dry run";
  EXPECT_EQ(counts().sent, 0U);
  EXPECT_EQ(counts().beside, 4U);
  EXPECT_EQ(counts().bytes_sent, 0U);
  EXPECT_EQ(figure("bytes"), "0");
}

TEST_F(FileTurns, AFailedConnectionIsNotWaitedFor) {
  std::ofstream(path("text")) << content(1000);
  connect(2, {{"name", "text"}});
  EXPECT_TRUE(turn(1));
  pairs_[0]->hold(true);
  EXPECT_FALSE(turn(1));
  expected_complaint_ = "receive: recv: Connection reset by peer";
  pairs_[0]->left().on_failure({Stage::receive, ECONNRESET, "recv"}, pairs_[0]->now());
  EXPECT_FALSE(run_->turn_under_way());
  EXPECT_EQ(counts().sent, counts().verified + counts().failed);
  pairs_.erase(pairs_.begin());
  EXPECT_TRUE(turn(1)) << "the other goes on";
  EXPECT_EQ(run_->connections_failed(), 1U);
}

TEST_F(FileTurns, AStopInTheMiddleOfATurnKeepsTheBooks) {
  std::ofstream(path("text")) << content(1000);
  connect(2, {{"name", "text"}});
  pairs_[0]->hold(true);
  EXPECT_FALSE(turn(1));
  pairs_[0]->hold(false);
  for (const auto& pair : pairs_) pair->left().on_drain(pair->now());
  EXPECT_EQ(counts().sent, counts().verified + counts().failed + counts().in_flight);
  EXPECT_EQ(figure("digest"), "not verified");
}

}  // namespace
}  // namespace joust::file
