// SPDX-License-Identifier: MIT
//
// The client's sessions joined with the server's in memory, however the stream is cut, and wherever it ends.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>
#include <fstream>
#include <functional>
#include <thread>

#include "protocols/file_server_fixture.hpp"
#include "transfer/bring.hpp"
#include "transfer/fetch.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using file::test::FileServerTest;
using joust::test::text_of;

// One connection between a transfer and the server, on which nothing travels any more after `most` bytes.
class Joined {
 public:
  Joined(Transfer& transfer, file::ServerState& server, Pair::Cut cut = Pair::whole,
         std::uint64_t most = UINT64_MAX)
      : transfer_(transfer),
        left_(most),
        pair_(transfer.open({}), std::make_unique<file::ServerSession>(server),
              [this, cut = std::move(cut)](std::size_t n) { return pass(cut(n)); }) {}

  // Until the transfer is over. The digest of a large file is made by a thread, which announces it.
  void run() {
    for (int i = 0; i < 20'000 && !transfer_.over(); ++i) {
      pair_.settle();
      pair_.left().on_published(pair_.now());
      std::this_thread::yield();
      if (i > 100) pair_.pass(std::chrono::milliseconds(1));
    }
    pair_.settle();
  }
  void break_off() {
    pair_.settle();
    pair_.left().on_drain(pair_.now());
  }
  void lose() {
    pair_.settle();
    pair_.left().on_failure({Stage::receive, ECONNRESET, ""}, pair_.now());
  }

 private:
  std::size_t pass(std::size_t size) {
    if (size >= left_) pair_.hold(true);
    left_ -= std::min<std::uint64_t>(left_, size);
    return size;
  }

  Transfer& transfer_;
  std::uint64_t left_;  // bytes
  Pair pair_;
};

// A server that answers each message as the test says, or not at all.
class Answering : public Session {
 public:
  using Answer = std::function<std::optional<file::Body>(const file::Message&)>;
  explicit Answering(Answer answer) : answer_(std::move(answer)) {}

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    for (Bytes rest = chunk; !rest.empty();) {
      const std::size_t skipped = std::min<std::uint64_t>(data_, rest.size());
      data_ -= skipped;
      rest = rest.subspan(skipped);
      if (rest.empty()) break;
      const auto step = decoder_.next(rest);
      if (!step) {
        ADD_FAILURE() << step.error().refusal.text;
        break;
      }
      rest = rest.subspan(step->taken);
      if (step->message) take(*step->message);
    }
    return chunk.size();
  }
  void on_drain(Time /*now*/) override {}
  std::size_t output(std::span<Segment> into) const override {
    if (next_ == says_.size()) return 0;
    into[0].bytes = as_bytes(says_[next_]).subspan(said_);
    return 1;
  }
  bool finished() const override { return false; }
  void consumed(std::size_t n) override {
    said_ += n;
    if (said_ < says_[next_].size()) return;
    said_ = 0;
    ++next_;
  }
  void released(std::size_t /*n*/) override {}

 private:
  void take(const file::Message& message) {
    if (const auto* data = std::get_if<file::Data>(&message.body)) data_ = data->size;
    if (const auto body = answer_(message)) says_.push_back(file::test::wire({message.request, *body}));
  }

  const Answer answer_;
  file::Decoder decoder_;
  std::uint64_t data_ = 0;        // bytes that follow
  std::deque<std::string> says_;  // all of it
  std::size_t next_ = 0, said_ = 0;
};

class Transferring : public FileServerTest {
 protected:
  static std::string content(std::size_t size) {
    std::string text(size, '.');
    for (std::size_t i = 0; i < size; i += 41) text[i] = static_cast<char>('a' + (i + i / 8191) % 26);
    return text;
  }
  std::string source(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  static BringPlan plan_of(const std::vector<std::string>& paths) {
    auto list = list_sources(paths, true, "");
    EXPECT_TRUE(list) << list.error();
    return {.items = std::move(list->items), .missing = std::move(list->missing)};
  }
  FetchPlan fetch_of(const std::string& name) const {
    return {.name = name, .folder = folder_.path(), .file = "fetched"};
  }
  // Until the transfer is over, at most so long in the sessions' time.
  static void run(Transfer& transfer, Answering::Answer answer, Duration most) {
    Pair pair(transfer.open({}), std::make_unique<Answering>(std::move(answer)));
    for (const Time end = pair.now() + most; pair.now() < end && !transfer.over();) {
      pair.settle();
      pair.left().on_published(pair.now());
      pair.pass(std::chrono::milliseconds(100));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a thread makes the digest
    }
  }
  std::size_t hidden(const std::string& folder) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder))
      count += entry.path().filename().string().starts_with(".joust-") ? 1 : 0;
    return count;
  }
};

TEST_F(Transferring, BringsFilesOfEverySizeHoweverTheStreamIsCut) {
  const std::vector<Pair::Cut> cuts{Pair::whole,
                                    [](std::size_t n) { return std::min<std::size_t>(n, 70'001); }};
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{kRangeBytes},
                                 std::size_t{kRangeBytes + 1}, std::size_t{3 * kRangeBytes + 7}})
    for (const Pair::Cut& cut : cuts) {
      const std::string text = content(size);
      Bring bring(plan_of({source("new", text)}));
      Joined(bring, server(), cut).run();
      EXPECT_TRUE(bring.over());
      EXPECT_TRUE(bring.complaints().empty()) << bring.complaints().front();
      EXPECT_EQ(bring.counts().files, 1U);
      EXPECT_EQ(bring.digest(), joust::test::digest_of(text));
      EXPECT_EQ(text_of(path("new")), text) << size;
      EXPECT_EQ(hidden(path(".")), 0U);
      fs::remove(path("new"));
    }
}

TEST_F(Transferring, FetchesFilesOfEverySizeHoweverTheStreamIsCut) {
  const std::vector<Pair::Cut> cuts{Pair::whole,
                                    [](std::size_t n) { return std::min<std::size_t>(n, 70'001); }};
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{kRangeBytes + 1}})
    for (const Pair::Cut& cut : cuts) {
      const std::string text = content(size);
      std::ofstream(path("there"), std::ios::binary) << text;
      ::chmod(path("there").c_str(), 0604);
      Fetch fetch(fetch_of("there"));
      Joined(fetch, server(), cut).run();
      EXPECT_TRUE(fetch.complaints().empty()) << fetch.complaints().front();
      EXPECT_EQ(fetch.fetched(), joust::test::digest_of(text));
      EXPECT_EQ(text_of(folder_.file("fetched")), text);
      struct stat facts {};
      ASSERT_EQ(::stat(folder_.file("fetched").c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 07777, 0604U);
      fs::remove(folder_.file("fetched"));
    }
}

TEST_F(Transferring, FetchesNoFasterThanItMay) {
  const std::string text = content(kRangeBytes + 77);
  std::ofstream(path("there"), std::ios::binary) << text;
  FetchPlan plan = fetch_of("there");
  plan.bytes_per_s = 4 << 20;
  Fetch fetch(plan);
  Pair pair(fetch.open({}), std::make_unique<file::ServerSession>(server()));
  for (int i = 0; i < 2000 && fetch.counts().moved < text.size(); ++i) {
    pair.settle();
    const auto moved = fetch.counts().moved.load();
    EXPECT_LE(moved, i * plan.bytes_per_s / 1000 + 2 * plan.bytes_per_s / 20) << "after " << i << " ms";
    pair.pass(std::chrono::milliseconds(1));
  }
  for (int i = 0; i < 20'000 && !fetch.over(); ++i) {
    pair.settle();
    pair.left().on_published(pair.now());
    pair.pass(std::chrono::milliseconds(1));
    std::this_thread::yield();
  }
  EXPECT_TRUE(fetch.complaints().empty()) << fetch.complaints().front();
  EXPECT_EQ(text_of(folder_.file("fetched")), text);
}

TEST_F(Transferring, GoesOnWithWhatAnInterruptedOneHasLeft) {
  const std::string text = content(3 * kRangeBytes);
  const std::string from = source("new", text);
  {
    Bring bring(plan_of({from}));
    Joined(bring, server(), Pair::whole, 2 * kRangeBytes).break_off();
    EXPECT_FALSE(bring.over());
    EXPECT_FALSE(fs::exists(path("new")));
  }
  EXPECT_EQ(hidden(path(".")), 2U) << "the file and its journal";
  Bring again(plan_of({from}));
  Joined(again, server()).run();
  EXPECT_EQ(text_of(path("new")), text);
  EXPECT_EQ(again.counts().there + again.counts().moved, text.size());
  EXPECT_GT(again.counts().there, 0U);
}

// Of a tree: each file has its answer, and a bad one keeps no other back.
TEST_F(Transferring, TellsOfEachFileByItself) {
  fs::create_directories(folder_.file("tree/sub"));
  for (int i = 0; i < 50; ++i) source("tree/sub/f" + std::to_string(i), content(i * 100));
  fs::create_directories(path("tree/sub"));
  std::ofstream(path("tree/sub/f7")) << "older";
  BringPlan plan = plan_of({folder_.file("tree")});
  plan.wishes.makes_parents = true;
  Bring bring(std::move(plan));
  Joined(bring, server()).run();
  EXPECT_EQ(bring.counts().files, 49U);
  EXPECT_EQ(bring.counts().failed, 1U);
  ASSERT_EQ(bring.complaints().size(), 1U);
  EXPECT_NE(bring.complaints()[0].find("tree/sub/f7"), std::string::npos);
  EXPECT_EQ(text_of(path("tree/sub/f7")), "older");
  EXPECT_EQ(text_of(path("tree/sub/f49")), content(4900));
}

// A sender who removes the source afterwards would lose the file.
TEST_F(Transferring, CountsWhatItCannotSendAsFailed) {
  fs::create_directories(folder_.file("tree/" + std::string(1, '\x01')));
  source("tree/good", "text");
  source("tree/.joust-own", "text");
  source("tree/\x01/file", "text");
  fs::create_symlink("good", folder_.file("tree/link"));
  const auto list = list_sources({folder_.file("tree")}, true, "");
  ASSERT_TRUE(list) << list.error();
  EXPECT_EQ(list->notes.size(), 1U) << "the link, which is left out by intention";
  BringPlan plan = plan_of({folder_.file("tree")});
  plan.wishes.makes_parents = true;
  Bring bring(std::move(plan));
  Joined(bring, server()).run();
  EXPECT_TRUE(bring.over());
  EXPECT_EQ(bring.counts().files, 1U);
  EXPECT_EQ(bring.counts().failed, 2U);
  ASSERT_EQ(bring.complaints().size(), 2U);
  EXPECT_NE(bring.complaints()[1].find(".joust-own"), std::string::npos) << bring.complaints()[1];
  EXPECT_EQ(text_of(path("tree/good")), "text");
}

TEST_F(Transferring, IsNoSuccessIfNothingCouldBeSent) {
  Bring bring({.missing = {"a: unreadable"}});
  EXPECT_TRUE(bring.over());
  EXPECT_EQ(bring.counts().failed, 1U);
  EXPECT_EQ(bring.complaints(), std::vector<std::string>{"a: unreadable"});
}

TEST_F(Transferring, TellsHowManyComplaintsThereAreBesideThoseItTells) {
  BringPlan plan;
  for (int i = 0; i < 25; ++i) plan.missing.push_back(std::to_string(i));
  const Bring bring(std::move(plan));
  EXPECT_EQ(bring.complaints().size(), 21U);
  EXPECT_EQ(bring.complaints().back(), "and 5 more");
}

// The connection that sealed it is gone, and the server holds it until it notices the loss of the others.
TEST_F(Transferring, WaitsForAServerThatHoldsTheFileForAMinute) {
  const std::string text = content(kRangeBytes + 5);
  Bring bring(plan_of({source("new", text)}));
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
  run(bring, answer, std::chrono::minutes(3));
  EXPECT_TRUE(bring.over());
  EXPECT_EQ(bring.counts().files, 1U);
  EXPECT_TRUE(bring.complaints().empty()) << bring.complaints().front();
  EXPECT_EQ(asked, 251);
}

TEST_F(Transferring, GivesUpAFileThatTheServerKeepsForgetting) {
  Bring bring(plan_of({source("new", content(kRangeBytes + 5))}));
  int offers = 0;
  const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
    if (std::holds_alternative<file::UploadRange>(message.body))
      return file::Error{{FileError::not_found, ""}};
    if (std::holds_alternative<file::Offer>(message.body) && ++offers < 1000) return file::Offered{};
    return std::nullopt;
  };
  run(bring, answer, std::chrono::seconds(20));
  EXPECT_TRUE(bring.over());
  EXPECT_EQ(bring.counts().failed, 1U);
  EXPECT_LT(offers, 20);
  ASSERT_EQ(bring.complaints().size(), 1U);
  EXPECT_NE(bring.complaints()[0].find("knows nothing of it"), std::string::npos) << bring.complaints()[0];
}

// It may be the file that was brought before the connection was lost, and may be another one.
TEST_F(Transferring, SaysThatAServerDoesNotTellWhatIsThere) {
  Bring bring(plan_of({source("new", "text")}));
  { Joined(bring, server(), Pair::whole, 1).lose(); }
  const auto answer = [&](const file::Message& message) -> std::optional<file::Body> {
    if (std::holds_alternative<file::Query>(message.body)) return file::Error{{FileError::not_permitted, ""}};
    if (std::holds_alternative<file::End>(message.body)) return file::Error{{FileError::exists, ""}};
    return std::nullopt;
  };
  run(bring, answer, std::chrono::seconds(5));
  ASSERT_EQ(bring.complaints().size(), 1U);
  EXPECT_NE(bring.complaints()[0].find("does not tell whether it is this file"), std::string::npos)
      << bring.complaints()[0];
}

// A lost connection gives back what it had; the next one does it.
TEST_F(Transferring, LosesNothingWithALostConnection) {
  const std::string text = content(2 * kRangeBytes + 5);
  const std::string from = source("new", text);
  Bring bring(plan_of({from}));
  for (std::size_t most = 50'000; most < 12'000'000; most = most * 3)
    Joined(bring, server(), Pair::whole, most).lose();
  EXPECT_FALSE(bring.over());
  Joined(bring, server()).run();
  EXPECT_EQ(text_of(path("new")), text);
  EXPECT_TRUE(bring.complaints().empty());
}

TEST_F(Transferring, RefusesAServerThatSpeaksSomethingElse) {
  std::ofstream(path("there")) << "text";
  FetchPlan plan = fetch_of("there");
  plan.most_retries = 0;
  for (const std::string& answer :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), file::test::wire({9, file::Working{}})}) {
    Fetch fetch(plan);
    auto session = fetch.open({});
    session->on_open(Time{} + std::chrono::hours(1));
    session->on_bytes(as_bytes(answer), Time{} + std::chrono::hours(1));
    EXPECT_TRUE(session->finished());
    EXPECT_TRUE(fetch.over());
    EXPECT_EQ(fetch.complaints().size(), 1U);
  }
  EXPECT_FALSE(fs::exists(folder_.file("fetched")));
}

TEST_F(Transferring, FetchesNoFileThatChangesMeanwhile) {
  std::ofstream(path("there")) << content(100'000);
  Fetch fetch(fetch_of("there"));
  bool changed = false;
  Joined joined(fetch, server(), [&](std::size_t n) {
    if (!std::exchange(changed, fetch.facts().has_value()) && fetch.facts())
      std::ofstream(path("there")) << content(100'001);
    return n;
  });
  joined.run();
  EXPECT_TRUE(changed);
  ASSERT_EQ(fetch.complaints().size(), 1U);
  EXPECT_NE(fetch.complaints()[0].find("has changed"), std::string::npos) << fetch.complaints()[0];
  EXPECT_FALSE(fs::exists(folder_.file("fetched")));
}

class Plain : public Transfer {
 public:
  using Transfer::Transfer;
  std::unique_ptr<Session> open(const Opening&) override { return nullptr; }
};

TEST(TransferRetries, AreNotNeededWhileAnotherFirstConnectionMayOpen) {
  const Failure failure{Stage::connect, ECONNREFUSED, ""};
  Time now{std::chrono::hours(1)};
  Plain transfer(2);
  transfer.expect(3);
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
  transfer.expect(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(transfer.over());
    transfer.not_opened({Stage::connect, ECONNREFUSED, ""}, Time{std::chrono::hours(1)});
  }
  EXPECT_TRUE(transfer.over());
  EXPECT_EQ(transfer.complaints().size(), 1U);
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
  transfer.moved(1);
  EXPECT_TRUE(lose());
  EXPECT_TRUE(lose());
  EXPECT_FALSE(transfer.over());
  EXPECT_FALSE(lose());
  EXPECT_TRUE(transfer.over());
  EXPECT_EQ(transfer.complaints().size(), 1U);
}

TEST(RateLimit, SpreadsBytesEvenly) {
  RateLimit limit(1000);
  const Time begin{std::chrono::hours(1)};
  EXPECT_EQ(limit.reserve(100, begin), begin);
  EXPECT_EQ(limit.reserve(100, begin), begin + std::chrono::milliseconds(100));
  EXPECT_EQ(limit.reserve(1, begin + std::chrono::seconds(1)), begin + std::chrono::seconds(1)) << "no burst";
}

}  // namespace
}  // namespace joust::transfer
