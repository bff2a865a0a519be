// SPDX-License-Identifier: MIT
#include "history/store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.hpp"
#include "report/fake_race.hpp"
#include "report/race_json.hpp"
#include "temporary_folder.hpp"

namespace joust::history {
namespace {

class Results : public ::testing::Test {
 protected:
  test::TemporaryFolder folder;
  std::string path = folder.path() + "/state/joust/history.db";
  std::unique_ptr<Store> kept = open_store(path);
  Store& store = *kept;

  // The document of a race that began then.
  static std::string document(const std::string& started) {
    static const race::RaceResult plain = report::plain_race();
    race::RaceResult race = plain;
    race.started = started;
    return report::race_json(race);
  }
};

TEST_F(Results, AreFoundByNumberAndTag) {
  const std::int64_t one = store.add(document("2026-01-01T00:00:00Z"));
  const std::int64_t two = store.add(document("2026-01-02T00:00:00Z"));
  store.tag(one, "release");
  ASSERT_TRUE(store.find("release"));
  EXPECT_EQ(store.find("release")->id, one);
  EXPECT_EQ(store.find(std::to_string(two))->started, "2026-01-02T00:00:00Z");
  EXPECT_FALSE(store.find("other"));
  EXPECT_FALSE(store.find(""));
  EXPECT_EQ(store.document(one), document("2026-01-01T00:00:00Z"));
  const std::vector<Entry> entries = store.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].id, two);
  EXPECT_EQ(entries[1].tags, std::vector<std::string>{"release"});
}

TEST_F(Results, AreAddedOnce) {
  const std::int64_t one = store.add(document("2026-01-01T00:00:00Z"));
  EXPECT_EQ(store.add(document("2026-01-01T00:00:00Z")), one);
  EXPECT_EQ(store.entries().size(), 1U);
}

TEST_F(Results, MayHaveATagThatAnotherHad) {
  store.tag(store.add(document("2026-01-01T00:00:00Z")), "last");
  const std::int64_t two = store.add(document("2026-01-02T00:00:00Z"));
  store.tag(two, "last");
  EXPECT_EQ(store.find("last")->id, two);
  EXPECT_TRUE(store.untag("last"));
  EXPECT_FALSE(store.untag("last"));
  EXPECT_FALSE(store.find("last"));
}

TEST_F(Results, AreNotMadeByWhoOnlyLooks) {
  EXPECT_TRUE(store.entries().empty());
  EXPECT_FALSE(store.find("last"));
  EXPECT_FALSE(store.untag("last"));
  EXPECT_EQ(store.prune(0), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/state"));
  store.add(document("2026-01-01T00:00:00Z"));
  EXPECT_EQ(store.entries().size(), 1U);
  EXPECT_EQ(open_store(path)->entries().size(), 1U) << "it is in the file";
}

TEST_F(Results, WithATagArePrunedNever) {
  for (int day = 1; day <= 5; ++day) store.add(document(std::to_string(day)));
  store.tag(1, "first");
  EXPECT_EQ(store.prune(2), 2U);
  std::vector<std::int64_t> left;
  for (const Entry& entry : store.entries()) left.push_back(entry.id);
  EXPECT_EQ(left, (std::vector<std::int64_t>{5, 4, 1}));
  EXPECT_EQ(store.add(document("6")), 6) << "numbers are not given twice";
}

TEST_F(Results, OfOneOriginAreASeries) {
  for (int day = 1; day <= 3; ++day) store.add(document(std::to_string(day)));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::string series;
  const auto take = [](void* into, int, char** values, char**) {
    *static_cast<std::string*>(into) = values[0];
    return 0;
  };
  const char* const select = "SELECT series FROM figure WHERE name = 'throughput_per_s' LIMIT 1";
  ASSERT_EQ(sqlite3_exec(database, select, take, &series, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const Entry entry = store.entries().front();
  const Origin here{.host = entry.host, .fingerprint = entry.fingerprint};
  const std::string key = "throughput_per_s";
  EXPECT_EQ(store.earlier(series, key, here, {}).size(), 3U);
  const std::vector<std::string> compared{document("1"), document("3")};
  EXPECT_EQ(store.earlier(series, key, here, compared).size(), 1U) << "the compared ones say nothing";
  EXPECT_TRUE(store.earlier(series, key, {.host = "there", .fingerprint = ""}, {}).empty());
  EXPECT_TRUE(store.earlier("other", key, here, {}).empty());
  EXPECT_EQ(store.series_of_result(1).size() % 3, 0U);
}

TEST_F(Results, ThatAreWrongAreRefused) {
  EXPECT_THROW(store.add("{}"), std::runtime_error);
  EXPECT_TRUE(store.entries().empty());
}

TEST_F(Results, OfTwoWritersAtOnceAreAllThere) {
  constexpr int kEach = 20;
  const auto write = [this](const std::string& who) {
    const auto own = open_store(path);
    for (int i = 0; i < kEach; ++i) own->add(document(who + std::to_string(i)));
  };
  { const std::jthread one(write, "a"), two(write, "b"); }
  EXPECT_EQ(store.entries().size(), 2U * kEach);
}

TEST_F(Results, OfANewFileThatTwoMakeAtOnceAreAllThere) {
  const std::string fresh = folder.path() + "/fresh/history.db";
  {
    const auto write = [&](const std::string& who) { open_store(fresh)->add(document(who)); };
    const std::jthread one(write, "a"), two(write, "b");
  }
  EXPECT_EQ(open_store(fresh)->entries().size(), 2U);
}

// Reading changes nothing: the next race sets the file aside.
TEST_F(Results, OfADamagedFileAreSetAsideByTheNextOne) {
  store.add(document("1"));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << std::string(8192, 'x');
  const auto again = open_store(path);
  EXPECT_THROW(again->entries(), std::runtime_error);
  EXPECT_EQ(again->add(document("2")), 1);
  EXPECT_TRUE(again->remark().contains("is damaged: it is now " + folder.path()));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/state/joust/history.damaged-1.db"));
  EXPECT_EQ(open_store(path)->entries().size(), 1U);
}

// The first page is as it was: the damage shows when the rows are read.
TEST_F(Results, OfAFileWithADamagedMiddleAreSetAside) {
  for (int day = 1; day <= 9; ++day) store.add(document(std::to_string(day)));
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    file << std::string(size - 4096, '\xee');
  }
  const auto again = open_store(path);
  EXPECT_THROW(again->entries(), std::runtime_error);
  again->add(document("10"));
  EXPECT_TRUE(again->remark().contains("is damaged")) << again->remark();
  EXPECT_EQ(again->entries().size(), 1U);
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/state/joust/history.damaged-1.db"), size);
}

// A process that stands still with the lock must not keep a race from its end.
TEST_F(Results, OfADamagedFileWhoseLockAnotherHoldsAreAnError) {
  store.add(document("0"));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << std::string(8192, 'x');
  const Fd held(::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  EXPECT_THROW(open_store(path)->add(document("1")), std::runtime_error);
}

TEST_F(Results, OfANewerVersionAreSetAsideByTheNextOne) {
  store.add(document("1"));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const auto again = open_store(path);
  EXPECT_THROW(again->entries(), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/state/joust/history.newer-1.db"));
  again->add(document("2"));
  EXPECT_TRUE(again->remark().contains("was made by a newer version of joust"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/state/joust/history.newer-1.db"));
}

TEST_F(Results, OfAnotherProgramsFileAreNotAddedToIt) {
  const std::string other = folder.path() + "/other.db";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(other.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "CREATE TABLE mine (a)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_THROW(open_store(other)->entries(), std::runtime_error);
  const auto size = std::filesystem::file_size(other);
  open_store(other)->add(document("1"));
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/other.damaged-1.db"), size);
}

TEST_F(Results, AreForThisUserAlone) {
  store.add(document("1"));
  using std::filesystem::perms;
  const perms others = perms::group_all | perms::others_all;
  EXPECT_EQ(std::filesystem::status(path).permissions() & others, perms::none);
}

TEST_F(Results, HaveNoPlaceWhereNoFolderCanBeMade) {
  EXPECT_THROW(open_store("/proc/joust/history.db")->add(document("1")), std::runtime_error);
}

}  // namespace
}  // namespace joust::history
