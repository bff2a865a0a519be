// SPDX-License-Identifier: MIT
#include "base/shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr PeerAddress kOne{1}, kOther{2}, kThird{3};
constexpr Time kBegin{seconds(100)};

class Asked : public Shares::Holder {
 public:
  explicit Asked(PeerAddress address) : Holder(address) {}
  bool asked = false;

 private:
  void give_way() noexcept override { asked = true; }
};

class SharesTest : public testing::Test {
 protected:
  // Holders that are freed at the test's end.
  Asked* take(PeerAddress address, Time now = kBegin) {
    auto holder = std::make_unique<Asked>(address);
    if (!shares_.take(*holder, now)) return nullptr;
    holders_.push_back(std::move(holder));
    return holders_.back().get();
  }
  void take_many(PeerAddress address, std::size_t count, Time now = kBegin) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_NE(take(address, now), nullptr);
  }
  void free(Asked* holder) {
    shares_.free(*holder);
    std::erase_if(holders_, [&](const auto& each) { return each.get() == holder; });
  }
  std::size_t asked(PeerAddress address) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        holders_, [&](const auto& each) { return each->address() == address && each->asked; }));
  }
  void TearDown() override {
    for (const auto& holder : holders_) shares_.free(*holder);
    EXPECT_EQ(shares_.held(), 0U);
  }

  Shares shares_{100};
  std::vector<std::unique_ptr<Asked>> holders_;
};

TEST_F(SharesTest, BelowTheLimitNobodyGivesWay) {
  take_many(kOne, 99);
  EXPECT_NE(take(kOther), nullptr);
  EXPECT_EQ(shares_.held(), 100U);
  EXPECT_EQ(shares_.gave_way(), 0U);
}

TEST_F(SharesTest, TheAddressThatHasMostGivesWayToAnother) {
  take_many(kOne, 90);
  take_many(kThird, 10);
  EXPECT_NE(take(kOther), nullptr) << "though all of them have made progress a moment ago";
  EXPECT_EQ(asked(kOne), Shares::kTogether);
  EXPECT_EQ(asked(kThird), 0U);
}

TEST_F(SharesTest, WhoHasMadeNoProgressForLongestGivesWayFirst) {
  for (int i = 0; i < 100; ++i) take(kOne, kBegin + milliseconds(i));
  for (int i = 0; i < 40; ++i) holders_[static_cast<std::size_t>(i)]->made_progress(kBegin + seconds(1));
  take(kOther, kBegin + seconds(1));
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(holders_[i]->asked, i >= 40 && i < 40 + Shares::kTogether) << i;
}

TEST_F(SharesTest, AnAddressDisplacesItsOwnIdleHoldersOnly) {
  take_many(kOne, 100);
  EXPECT_EQ(take(kOne, kBegin + milliseconds(900)), nullptr) << "all of them are busy";
  EXPECT_EQ(shares_.refused(), 1U);
  EXPECT_EQ(shares_.gave_way(), 0U);
  holders_[7]->made_progress(kBegin + seconds(2));
  EXPECT_NE(take(kOne, kBegin + seconds(2)), nullptr);
  EXPECT_FALSE(holders_[7]->asked);
  EXPECT_EQ(asked(kOne), Shares::kTogether);
}

TEST_F(SharesTest, WhoeverHasMostIsRefusedWhereItWouldHaveStillMore) {
  take_many(kOne, 50);
  take_many(kOther, 50);
  EXPECT_EQ(take(kOne), nullptr) << "it would have more than the other";
  EXPECT_EQ(asked(kOther), 0U);
}

TEST_F(SharesTest, NoMoreGiveWayThanLeaveBothTheSame) {
  take_many(kOne, 52);
  take_many(kOther, 48);
  EXPECT_NE(take(kOther), nullptr);
  EXPECT_EQ(asked(kOne), 2U) << "not 32, which would leave it the lesser part";
}

TEST_F(SharesTest, WhereNobodyHasMoreOnlyIdleOnesEnd) {
  take_many(kOne, 50);
  take_many(kOther, 49);
  ASSERT_NE(take(kOther), nullptr);
  EXPECT_EQ(take(kOther), nullptr);
  EXPECT_EQ(take(kOne), nullptr);
  EXPECT_NE(take(kThird), nullptr) << "who has nothing finds a place";
}

TEST_F(SharesTest, RelievedOfTheIdleHoldersOfWhoHasMost) {
  take_many(kOne, 50);
  take_many(kOther, 20);
  holders_[0]->made_progress(kBegin + seconds(2));
  shares_.relieve(10, seconds(1), kBegin + milliseconds(999));
  EXPECT_EQ(shares_.gave_way(), 0U) << "nobody is idle";
  shares_.relieve(10, seconds(1), kBegin + seconds(2));
  EXPECT_EQ(asked(kOne), 10U);
  EXPECT_FALSE(holders_[0]->asked);
  shares_.relieve(100, Duration::zero(), kBegin + seconds(2));
  EXPECT_EQ(asked(kOne), 50U);
  EXPECT_EQ(asked(kOther), 0U);
}

TEST_F(SharesTest, NobodyElseGivesWayWhileEnoughLeave) {
  take_many(kOne, 10);
  take(kOther);
  shares_.relieve(10, Duration::zero(), kBegin + seconds(1));
  shares_.relieve(10, Duration::zero(), kBegin + seconds(2));
  EXPECT_EQ(asked(kOne), 10U);
  EXPECT_EQ(asked(kOther), 0U) << "it has one, and ten leave";
}

TEST_F(SharesTest, WhoUsesMostMemoryGivesWayWhenItRunsShort) {
  take_many(kOne, 60);
  take_many(kOther, 10);
  for (const auto& each : holders_) each->uses_memory(each->address() == kOne ? 1 : 100);
  holders_[65]->uses_memory(1000);
  shares_.relieve_memory(0.6);  // of 60 + 900 + 1000
  EXPECT_TRUE(holders_[65]->asked) << "it alone has half of all";
  EXPECT_EQ(asked(kOther), 3U);
  EXPECT_EQ(asked(kOne), 0U) << "though it has most connections";
  EXPECT_EQ(shares_.memory_of_staying(), 760U);
  shares_.relieve_memory(0.6);
  EXPECT_EQ(asked(kOther), 3U) << "those that leave count until they are gone";
  shares_.relieve_memory(1);
  EXPECT_EQ(shares_.memory_of_staying(), 0U);
}

TEST_F(SharesTest, AddressesThatUseTheSameGiveWayAlike) {
  take_many(kOne, 20);
  take_many(kOther, 20);
  for (const auto& each : holders_) each->uses_memory(100);
  shares_.relieve_memory(0.5);
  EXPECT_EQ(asked(kOne), 10U);
  EXPECT_EQ(asked(kOther), 10U);
}

TEST_F(SharesTest, RoomThatIsBeingMadeIsNotMadeTwice) {
  take_many(kOne, 100);
  take(kOther);
  for (std::size_t i = 1; i < Shares::kTogether; ++i) EXPECT_NE(take(kOther), nullptr);
  EXPECT_EQ(shares_.gave_way(), Shares::kTogether);
  take(kOther);
  EXPECT_GT(shares_.gave_way(), Shares::kTogether);
}

TEST_F(SharesTest, AShareThatIsFreedIsThereAgain) {
  take_many(kOne, 100);
  free(holders_.front().get());
  free(holders_[50].get());
  take_many(kOne, 2);
  EXPECT_EQ(shares_.gave_way(), 0U);
  EXPECT_EQ(take(kOne), nullptr);
}

// For the thread sanitizer, and for the sums.
TEST(SharesOfThreads, AddUp) {
  Shares shares(3);
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < 4; ++thread)
    threads.emplace_back([&shares, thread] {
      for (int i = 0; i < 2000; ++i) {
        Asked holder(PeerAddress{1 + (thread + static_cast<unsigned>(i)) % 3});
        if (!shares.take(holder, kBegin + milliseconds(i))) continue;
        holder.made_progress(kBegin + milliseconds(i));
        shares.free(holder);
      }
    });
  threads.clear();
  EXPECT_EQ(shares.held(), 0U);
}

}  // namespace
}  // namespace joust
