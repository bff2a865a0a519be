// SPDX-License-Identifier: MIT
//
// Files that are there already. With --overwrite only what differs is moved, and with --fsync on the disk has
// them before they count as done.
#include <sys/stat.h>

#include <cerrno>

#include "failing_calls.hpp"
#include "files/transfer/transfer_fixture.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using joust::test::text_of;
using test::Joined;

using Replacing = test::Transferring;

// Another mode or time is a difference too.
TEST_F(Replacing, SendsOnlyWhatDiffers) {
  storage({.existing = Existing::replace});
  fs::create_directories(folder_.file("tree"));
  const std::vector<std::pair<std::string, std::size_t>> files{{"small", 1000},
                                                               {"mode", 1000},
                                                               {"time", 1000},
                                                               {"bytes", 1000},
                                                               {"large", kRangeBytes + 1},
                                                               {"large mode", kRangeBytes + 1},
                                                               {"large bytes", kRangeBytes + 1}};
  for (const auto& [name, size] : files) source("tree/" + name, content(size));
  const auto send = [&] {
    SendPlan plan = plan_of({folder_.file("tree")});
    plan.wishes.makes_parents = plan.wishes.overwrites = true;
    SendTransfer sending(std::move(plan));
    Joined(sending, server()).run();
    EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
    return std::pair(sending.counts().files.load(), sending.counts().skipped.load());
  };
  EXPECT_EQ(send(), std::pair(std::uint64_t{7}, std::uint64_t{0}));
  EXPECT_EQ(send(), std::pair(std::uint64_t{0}, std::uint64_t{7}));
  for (const std::string name : {"mode", "large mode"})
    fs::permissions(folder_.file("tree/" + name), fs::perms::owner_all);
  fs::last_write_time(folder_.file("tree/time"), fs::file_time_type::clock::now() - std::chrono::hours(9));
  for (const std::string name : {"bytes", "large bytes"}) {
    const auto before = fs::last_write_time(folder_.file("tree/" + name));
    std::fstream(folder_.file("tree/" + name), std::ios::in | std::ios::out) << "other";
    fs::last_write_time(folder_.file("tree/" + name), before);
  }
  EXPECT_EQ(send(), std::pair(std::uint64_t{5}, std::uint64_t{2}));
  for (const auto& [name, size] : files) {
    EXPECT_TRUE(text_of(folder_.file("tree/" + name)) == text_of(path("tree/" + name))) << name;
    EXPECT_EQ(fs::status(folder_.file("tree/" + name)).permissions(),
              fs::status(path("tree/" + name)).permissions());
  }
  EXPECT_EQ(send(), std::pair(std::uint64_t{0}, std::uint64_t{7}));
}

TEST_F(Replacing, FetchesOnlyWhatDiffers) {
  const std::string text = content(100'000);
  std::ofstream(path("there"), std::ios::binary) << text;
  GetPlan plan = fetch_of("there");
  plan.wishes.overwrites = true;
  const std::string here = folder_.file("fetched");
  const auto fetched = [&] {
    GetTransfer getting(plan);
    Joined(getting, server()).run();
    EXPECT_TRUE(getting.complaints().empty()) << getting.complaints().front();
    EXPECT_TRUE(text_of(here) == text);
    return getting.counts().files.load() - getting.counts().skipped.load();
  };
  EXPECT_EQ(fetched(), 1U);
  EXPECT_EQ(fetched(), UINT64_MAX) << "it is skipped";
  const auto time = fs::last_write_time(here);
  std::fstream(here, std::ios::in | std::ios::out) << "other bytes";
  EXPECT_EQ(fetched(), 1U) << "another time";
  std::fstream(here, std::ios::in | std::ios::out) << "other bytes";
  fs::last_write_time(here, time);
  EXPECT_EQ(fetched(), 1U) << "the same time, and another digest";
  EXPECT_EQ(fetched(), UINT64_MAX);
}

using joust::test::Call;
using joust::test::Failing;

class Synced : public test::Transferring {
 protected:
  struct Outcome {
    std::uint64_t skipped, failed, disk_errors;
    bool operator==(const Outcome&) const = default;
  };
  // While the disk takes nothing.
  Outcome run(Transfer& transfer) {
    const Failing failing(Call::fsync, EIO);
    Joined(transfer, server()).run();
    return {transfer.counts().skipped, transfer.counts().failed, failing.failed()};
  }
};

TEST_F(Synced, AreFilesThatTheServerHasAlready) {
  for (const std::size_t size : {std::size_t{1000}, std::size_t{kRangeBytes + 1}}) {
    const std::string name = source("file", content(size));
    SendTransfer first(plan_of({name}));
    Joined(first, server()).run();
    ASSERT_EQ(first.counts().files, 1U);
    for (const bool synced : {false, true}) {
      SendPlan plan = plan_of({name});
      plan.wishes.synced = synced;
      SendTransfer sending(std::move(plan));
      EXPECT_EQ(run(sending), (synced ? Outcome{0, 1, 1} : Outcome{1, 0, 0})) << size;
    }
    fs::remove(path("file"));
  }
}

// The kernel tells a failure once: the next fsync() says nothing, and the disk has other bytes.
TEST_F(Synced, IsNoFileThatTheDiskHasFailedToTakeBefore) {
  for (const std::size_t size : {std::size_t{1000}, std::size_t{kRangeBytes + 1}}) {
    const std::string name = source("file", content(size));
    const auto sending = [&] {
      SendPlan plan = plan_of({name});
      plan.wishes.synced = true;
      return std::make_unique<SendTransfer>(std::move(plan));
    };
    const auto first = sending(), refused = sending(), again = sending(), sent = sending();
    Joined(*first, server()).run();
    ASSERT_EQ(first->counts().files, 1U);
    const auto other = source("other", content(size));
    SendTransfer well(plan_of({other}));
    Joined(well, server()).run();
    EXPECT_EQ(run(*refused), (Outcome{0, 1, 1})) << size;
    Joined(*again, server()).run();
    EXPECT_EQ(again->counts().failed, 1U) << size;
    const std::string told = again->complaints().at(0);
    EXPECT_NE(told.find("the disk has failed to take it before"), std::string::npos) << told;
    SendPlan plan = plan_of({other});
    plan.wishes.synced = true;
    SendTransfer there(std::move(plan));
    Joined(there, server()).run();
    EXPECT_EQ(there.counts().skipped, 1U) << "another file is none of it";
    fs::remove(path("file"));
    Joined(*sent, server()).run();
    EXPECT_EQ(sent->counts().files, 1U) << size;
    fs::remove(path("file"));
    fs::remove(path("other"));
  }
}

// A new file is the remedy, whether its bytes are others or not.
TEST_F(Synced, IsAFileThatReplacesOneThatTheDiskHasRefused) {
  storage({.existing = Existing::replace});
  for (const std::size_t size : {std::size_t{1000}, std::size_t{kRangeBytes + 1}}) {
    const std::string name = source("file", content(size));
    const auto sending = [&](bool synced, bool overwrites) {
      SendPlan plan = plan_of({name});
      plan.wishes.synced = synced;
      plan.wishes.overwrites = overwrites;
      return std::make_unique<SendTransfer>(std::move(plan));
    };
    const auto first = sending(false, false), refused = sending(true, false), replacing = sending(true, true);
    Joined(*first, server()).run();
    EXPECT_EQ(run(*refused), (Outcome{0, 1, 1})) << size;
    Joined(*replacing, server()).run();
    EXPECT_EQ(replacing->counts().files, 1U) << size;
    EXPECT_EQ(replacing->counts().failed, 0U) << size;
    EXPECT_TRUE(text_of(path("file")) == content(size));
    fs::remove(path("file"));
  }
}

// Nobody knows then which of its bytes the disk has.
TEST_F(Synced, ALargeFileForWhichTheDiskHasNoRoomIsNotKept) {
  SendPlan plan = plan_of({source("file", content(kRangeBytes + 1))});
  plan.wishes.synced = true;
  SendTransfer sending(std::move(plan));
  const Failing failing(Call::fsync, ENOSPC);
  Joined(sending, server()).run();
  EXPECT_EQ(sending.counts().failed, 1U);
  EXPECT_EQ(sending.kept(), 0U);
}

TEST_F(Synced, IsAFileThatIsHereAlready) {
  std::ofstream(path("there"), std::ios::binary) << content(100'000);
  GetTransfer first(fetch_of("there"));
  Joined(first, server()).run();
  ASSERT_TRUE(first.fetched());
  for (const bool synced : {false, true}) {
    GetPlan plan = fetch_of("there");
    plan.wishes.synced = synced;
    GetTransfer getting(plan);
    EXPECT_EQ(run(getting), (synced ? Outcome{0, 1, 1} : Outcome{1, 0, 0}));
  }
}

}  // namespace

}  // namespace joust::transfer
