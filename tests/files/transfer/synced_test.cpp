// SPDX-License-Identifier: MIT
//
// With --fsync on, files that are there already are on the disk as well before they count as done.
#include <cerrno>

#include "failing_calls.hpp"
#include "files/transfer/transfer_fixture.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using joust::test::Call;
using joust::test::Failing;
using joust::test::text_of;
using test::Joined;

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
