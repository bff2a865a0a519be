// SPDX-License-Identifier: MIT
//
// What --overwrite does with files that are there: only what differs is moved.
#include <sys/stat.h>

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

}  // namespace
}  // namespace joust::transfer
