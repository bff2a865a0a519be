// SPDX-License-Identifier: MIT
//
// The client's sessions joined with the server's in memory, however the stream is cut, and wherever it ends.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "files/transfer/transfer.hpp"
#include "files/transfer/transfer_fixture.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using joust::test::text_of;
using test::Joined;
using test::Transferring;

TEST_F(Transferring, SendsFilesOfEverySizeHoweverTheStreamIsCut) {
  const std::vector<Pair::Cut> cuts{Pair::whole,
                                    [](std::size_t n) { return std::min<std::size_t>(n, 70'001); }};
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{kRangeBytes},
                                 std::size_t{kRangeBytes + 1}, std::size_t{3 * kRangeBytes + 7}})
    for (const Pair::Cut& cut : cuts) {
      const std::string text = content(size);
      SendTransfer sending(plan_of({source("new", text)}));
      Joined(sending, server(), cut).run();
      EXPECT_TRUE(sending.over());
      EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
      EXPECT_EQ(sending.counts().files, 1U);
      EXPECT_EQ(sending.digest(), joust::test::digest_of(text));
      EXPECT_TRUE(text_of(path("new")) == text) << size;
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
      GetTransfer getting(fetch_of("there"));
      Joined(getting, server(), cut).run();
      EXPECT_TRUE(getting.complaints().empty()) << getting.complaints().front();
      EXPECT_EQ(getting.fetched(), joust::test::digest_of(text));
      EXPECT_TRUE(text_of(folder_.file("fetched")) == text);
      struct stat facts {};
      ASSERT_EQ(::stat(folder_.file("fetched").c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 07777, 0604U);
      fs::remove(folder_.file("fetched"));
    }
}

TEST_F(Transferring, FetchesNoFasterThanItMay) {
  const std::string text = content(kRangeBytes + 77);
  std::ofstream(path("there"), std::ios::binary) << text;
  GetPlan plan = fetch_of("there");
  plan.bytes_per_s = 4 << 20;
  GetTransfer getting(plan);
  Pair pair(getting.open({}), std::make_unique<file::ServerSession>(server()));
  std::uint64_t passed = 0;  // ms since the first byte
  for (int i = 0; i < 100'000 && !getting.over(); ++i) {
    pair.settle();
    pair.left().on_published(pair.now());
    const auto moved = getting.counts().moved.load();
    passed += moved > 0 ? 1 : 0;
    if (moved == 0 || moved == text.size())  // a thread is at work on the digest
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_LE(moved, (passed + 100) * plan.bytes_per_s / 1000) << "after " << passed << " ms";
    pair.pass(std::chrono::milliseconds(1));
  }
  EXPECT_GT(passed, 1900U);
  EXPECT_TRUE(getting.complaints().empty()) << getting.complaints().front();
  EXPECT_TRUE(text_of(folder_.file("fetched")) == text);
}

TEST_F(Transferring, GoesOnWithWhatAnInterruptedOneHasLeft) {
  const std::string text = content(3 * kRangeBytes);
  const std::string from = source("new", text);
  {
    SendTransfer sending(plan_of({from}));
    Joined(sending, server(), Pair::whole, 2 * kRangeBytes).break_off();
    EXPECT_FALSE(sending.over());
    EXPECT_FALSE(fs::exists(path("new")));
  }
  EXPECT_EQ(hidden(path(".")), 2U) << "the file and its journal";
  SendTransfer again(plan_of({from}));
  Joined(again, server()).run();
  EXPECT_TRUE(text_of(path("new")) == text);
  EXPECT_EQ(again.counts().there + again.counts().moved, text.size());
  EXPECT_GT(again.counts().there, 0U);
}

// Of a tree: each file has its answer, and a bad one keeps no other back.
TEST_F(Transferring, TellsOfEachFileByItself) {
  fs::create_directories(folder_.file("tree/sub"));
  for (int i = 0; i < 50; ++i) source("tree/sub/f" + std::to_string(i), content(i * 100));
  fs::create_directories(path("tree/sub"));
  std::ofstream(path("tree/sub/f7")) << "older";
  SendPlan plan = plan_of({folder_.file("tree")});
  plan.wishes.makes_parents = true;
  SendTransfer sending(std::move(plan));
  Joined(sending, server()).run();
  EXPECT_EQ(sending.counts().files, 49U);
  EXPECT_EQ(sending.counts().failed, 1U);
  ASSERT_EQ(sending.complaints().size(), 1U);
  EXPECT_NE(sending.complaints()[0].find("tree/sub/f7"), std::string::npos);
  EXPECT_EQ(text_of(path("tree/sub/f7")), "older");
  EXPECT_EQ(text_of(path("tree/sub/f49")), content(4900));
}

// A lost connection gives back what it had; the next one does it.
TEST_F(Transferring, LosesNothingWithALostConnection) {
  const std::string text = content(2 * kRangeBytes + 5);
  const std::string from = source("new", text);
  SendTransfer sending(plan_of({from}));
  for (std::size_t most = 50'000; most < 12'000'000; most = most * 3)
    Joined(sending, server(), Pair::whole, most).lose();
  EXPECT_FALSE(sending.over());
  Joined(sending, server()).run();
  EXPECT_TRUE(text_of(path("new")) == text);
  EXPECT_TRUE(sending.complaints().empty());
}

// No connection carries a range of the usual size, and the server knows none but the present one.
TEST_F(Transferring, GetsThroughALinkThatFailsAgainAndAgain) {
  const std::string text = content(kRangeBytes + 5);
  const std::string from = source("new", text);
  SendTransfer sending(plan_of({from}));
  int connections = 0;
  for (; !sending.over() && connections < 200; ++connections)
    Joined(sending, server(), Pair::whole, 300'000).lose();
  EXPECT_LT(connections, 200);
  EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
  EXPECT_TRUE(text_of(path("new")) == text);
  EXPECT_EQ(sending.counts().moved, text.size());
  EXPECT_EQ(sending.counts().there, 0U);
}

TEST_F(Transferring, RefusesAServerThatSpeaksSomethingElse) {
  std::ofstream(path("there")) << "text";
  GetPlan plan = fetch_of("there");
  plan.most_retries = 0;
  for (const std::string& answer :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), file::test::wire({9, file::Working{}})}) {
    GetTransfer getting(plan);
    auto session = getting.open({});
    session->on_open(Time{} + std::chrono::hours(1));
    session->on_bytes(as_bytes(answer), Time{} + std::chrono::hours(1));
    EXPECT_TRUE(session->finished());
    EXPECT_TRUE(getting.over());
    EXPECT_EQ(getting.complaints().size(), 1U);
  }
  EXPECT_FALSE(fs::exists(folder_.file("fetched")));
}

TEST_F(Transferring, FetchesNoFileThatChangesMeanwhile) {
  std::ofstream(path("there")) << content(100'000);
  GetTransfer getting(fetch_of("there"));
  bool changed = false;
  Joined joined(getting, server(), [&](std::size_t n) {
    if (!changed && getting.facts()) {
      changed = true;
      std::ofstream(path("there")) << content(100'001);
    }
    return n;
  });
  joined.run();
  EXPECT_TRUE(changed);
  ASSERT_EQ(getting.complaints().size(), 1U);
  EXPECT_NE(getting.complaints()[0].find("has changed"), std::string::npos) << getting.complaints()[0];
  EXPECT_FALSE(fs::exists(folder_.file("fetched")));
}

// Its bytes from a place on cannot be read, and its digest is known from before.
class DamagedStorage : public Storage {
 public:
  DamagedStorage(Storage& storage, std::uint64_t from, const Digest& digest)
      : storage_(storage), from_(from), digest_(digest) {}
  FileAnswer<OpenFile> open(std::string_view name) override {
    auto file = storage_.open(name);
    file->file = std::make_shared<Damaged>(file->file, from_);
    file->digest = digest_;
    return file;
  }
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) override {
    return storage_.upload(request);
  }
  void remember(const OpenFile& /*file*/, const Digest& /*digest*/) override {}

 private:
  struct Damaged : File {
    Damaged(std::shared_ptr<File> whole, std::uint64_t from) : file(std::move(whole)), end(from) {}
    std::expected<std::size_t, int> read_at(std::uint64_t at, std::span<std::byte> into) const override {
      if (at >= end) return std::unexpected(EIO);
      return file->read_at(at, into.first(std::min<std::uint64_t>(into.size(), end - at)));
    }
    std::expected<std::size_t, int> write_at(std::uint64_t /*offset*/, Bytes /*bytes*/) override {
      return std::unexpected(EBADF);
    }
    const std::shared_ptr<File> file;
    const std::uint64_t end;
  };
  Storage& storage_;
  const std::uint64_t from_;
  const Digest digest_;
};

// Zeros come in the place of what the server cannot read.
TEST_F(Transferring, GoesOnWithWhatTheServerCouldRead) {
  constexpr std::uint64_t kOneMiB = 1 << 20;
  const std::string text = content(9 * kOneMiB);
  std::ofstream(path("there"), std::ios::binary) << text;
  for (const std::uint64_t readable : {kOneMiB / 2, 5 * kOneMiB + kOneMiB / 2}) {
    DamagedStorage damaged(storage(), readable, joust::test::digest_of(text));
    file::ServerState server_of_it(damaged, digests_);
    GetTransfer getting(fetch_of("there"));
    Joined(getting, server_of_it).run();
    ASSERT_EQ(getting.complaints().size(), 1U);
    EXPECT_NE(getting.complaints()[0].find("input/output error"), std::string::npos)
        << getting.complaints()[0];
  }
  EXPECT_EQ(hidden(folder_.path()), 2U) << "the file and its journal";
  GetTransfer again(fetch_of("there"));
  Joined(again, server()).run();
  EXPECT_TRUE(again.complaints().empty()) << again.complaints().front();
  EXPECT_TRUE(text_of(folder_.file("fetched")) == text);
  EXPECT_EQ(again.counts().there, 5 * kOneMiB);
  EXPECT_EQ(again.counts().moved, 4 * kOneMiB);
}

TEST(RateLimit, SpreadsBytesEvenly) {
  RateLimit limit(1000);
  const Time begin{std::chrono::hours(1)};
  EXPECT_EQ(limit.reserve(100, begin), begin);
  EXPECT_EQ(limit.reserve(100, begin), begin + std::chrono::milliseconds(100));
  EXPECT_EQ(limit.reserve(1, begin + std::chrono::seconds(1)), begin + std::chrono::seconds(1)) << "no burst";
}

constexpr std::uint64_t kMiB = 1 << 20;

std::uint64_t largest(RangesLeft& ranges) {
  std::uint64_t most = 0;
  while (const auto range = ranges.take()) most = std::max(most, range->size);
  return most;
}

TEST(RangesLeft, AreAllOfTheFileOnce) {
  for (const std::uint64_t there : {std::uint64_t{0}, 3 * kMiB + 1, 100 * kMiB}) {
    RangesLeft ranges(100 * kMiB, 4);
    ranges.begin(there);
    std::uint64_t next = there;
    while (const auto range = ranges.take()) {
      EXPECT_EQ(range->offset, next);
      next = range->end();
      EXPECT_FALSE(ranges.complete());
      ranges.finish(*range);
    }
    EXPECT_EQ(next, 100 * kMiB);
    EXPECT_TRUE(ranges.complete());
  }
}

TEST(RangesLeft, GrowAndAreSmallerForManyConnections) {
  RangesLeft few(1024 * kMiB, 4), many(1024 * kMiB, 20);
  EXPECT_EQ(few.take()->size, kMiB);
  EXPECT_EQ(largest(few), 8 * kMiB);
  EXPECT_EQ(largest(many), 4 * kMiB);
}

// And they grow again when they get through.
TEST(RangesLeft, ShrinkWithEachLoss) {
  RangesLeft ranges(1024 * kMiB, 4);
  ByteRange range = *ranges.take();
  for (const std::uint64_t expected : {kMiB / 2, kMiB / 4, kMiB / 8, kMiB / 16, kMiB / 16}) {
    ranges.give_back(range);
    range = *ranges.take();
    EXPECT_EQ(range.offset, 0U);
    EXPECT_EQ(range.size, expected);
  }
  ranges.finish(range);
  EXPECT_EQ(*ranges.take(), (ByteRange{kMiB / 16, kMiB / 16}));
  EXPECT_EQ(ranges.take()->offset, kMiB / 8);
  EXPECT_EQ(ranges.done(), kMiB / 16);
}

}  // namespace

}  // namespace joust::transfer
