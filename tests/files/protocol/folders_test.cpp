// SPDX-License-Identifier: MIT
//
// Directories, which a client asks for among files that come whole.
#include <sys/stat.h>

#include <filesystem>

#include "files/protocol/server_fixture.hpp"
#include "files/store/hostile_names.hpp"
#include "files/store/quota.hpp"

namespace joust::file {
namespace {

namespace fs = std::filesystem;
using joust::test::text_of;
using test::Decoded;
using test::describe;
using test::wire;

class FileFolders : public test::FileUploading {
 protected:
  static std::string folder(const std::string& name, const Folder& wishes = {.mode = 0755},
                            std::uint32_t request = 1) {
    Folder asked = wishes;
    asked.name = name;
    return wire({request, asked});
  }
  unsigned mode_of(const std::string& name) const {
    struct stat facts {};
    EXPECT_EQ(::stat(path(name).c_str(), &facts), 0) << name;
    return facts.st_mode & 07777;
  }
};

TEST_F(FileFolders, MakesADirectoryWithItsMode) {
  EXPECT_EQ(ask(folder("new", {.mode = 040751})).text(), "1: stored 0+0 true -\n");
  EXPECT_EQ(mode_of("new"), 0751U);
  EXPECT_EQ(ask(folder("new", {.mode = 0700})).text(), "1: stored 0+0 true - was there\n");
  EXPECT_EQ(mode_of("new"), 0751U) << "as it was";
}

TEST_F(FileFolders, MakesThoseOnTheWayWhereItIsAsked) {
  std::string deep = "d";
  while (deep.size() < 1000) deep += "/d";
  EXPECT_EQ(error_of(folder(deep)), "not found");
  EXPECT_EQ(entries(), 2U);
  EXPECT_EQ(ask(folder(deep, {.mode = 0755, .makes_parents = true})).text(), "1: stored 0+0 true -\n");
  EXPECT_TRUE(fs::is_directory(path(deep)));
}

TEST_F(FileFolders, RefusesHostileNames) {
  const Folder deep{.mode = 0755, .makes_parents = true};
  for (const std::string& name : joust::test::hostile_names())
    if (name.size() < 2000) {
      EXPECT_EQ(error_of(folder(name, deep)), "name refused") << testing::PrintToString(name);
    }
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileFolders, RefusesTheNameOfAnotherKindOfFile) {
  fs::create_directory_symlink("sub", path("link"));
  for (const char* name : {"old", "link"}) EXPECT_EQ(error_of(folder(name)), "exists") << name;
  EXPECT_EQ(text_of(path("old")), "old");
}

TEST_F(FileFolders, FollowsNoLinkOnTheWay) {
  fs::create_directory_symlink(folder_.path(), path("up"));
  const Folder deep{.mode = 0755, .makes_parents = true};
  const std::size_t before = entries("..");
  for (const char* name : {"up/new", "up/a/b"}) {
    const Decoded heard = ask(folder(name, deep));
    ASSERT_EQ(heard.messages.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Error>(heard.messages[0].body)) << heard.text();
  }
  EXPECT_EQ(entries(".."), before);
}

TEST_F(FileFolders, HasAnEndWithTheRoom) {
  storage({.most_stored = 2 * kEntryBytes});
  const Folder deep{.mode = 0755, .makes_parents = true};
  EXPECT_EQ(error_of(folder("a/b/c", deep)), "no space");
  EXPECT_EQ(error_of(folder("d", deep)), "no space");
  EXPECT_EQ(ask(folder("a/b", deep)).text(), "1: stored 0+0 true - was there\n");
}

TEST_F(FileFolders, MakesNoneWhereFilesAreOnlyGiven) {
  server().takes = false;
  EXPECT_EQ(error_of(folder("new")), "not permitted");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileFolders, ComeAmongFilesInTheirOrderWithoutARoundTripEach) {
  for (const bool synced : {false, true}) {
    const Folder wishes{.mode = 0755, .makes_parents = true, .synced = synced};
    const FileWishes of_files{.mode = 0644, .makes_parents = true, .synced = synced};
    std::string says;
    constexpr std::uint32_t kPairs = 150;
    for (std::uint32_t i = 0; i < kPairs; ++i)
      says += folder("tree/d" + std::to_string(i), wishes, 2 * i + 1) +
              whole("tree/f" + std::to_string(i), "text", of_files, 2 * i + 2);
    says += folder("old", wishes, 2 * kPairs + 1) + wire({2 * kPairs + 2, Query{"tree/f0", false}});
    for (const auto& cut : {Pair::Cut(Pair::whole), Pair::Cut([](std::size_t) { return std::size_t{7}; })}) {
      std::vector<Message> answers = ask(says, cut).messages;
      std::erase_if(answers, [](const Message& m) { return std::holds_alternative<Working>(m.body); });
      ASSERT_EQ(answers.size(), 2 * kPairs + 2);
      for (std::uint32_t i = 0; i < 2 * kPairs; ++i) {
        EXPECT_EQ(answers[i].request, i + 1);
        const auto* stored = std::get_if<Stored>(&answers[i].body);
        ASSERT_TRUE(stored != nullptr && stored->complete) << describe(answers[i]);
        EXPECT_EQ(stored->digest.has_value(), i % 2 == 1);
      }
      EXPECT_EQ(std::get<Error>(answers[2 * kPairs].body).refusal.error, FileError::exists);
      EXPECT_EQ(std::get<Facts>(answers[2 * kPairs + 1].body).size, 4U);
      EXPECT_EQ(entries("tree"), 2 * kPairs);
      fs::remove_all(path("tree"));
    }
  }
}

TEST_F(FileFolders, BelongBetweenRequests) {
  const std::string head = wire({1, Whole{4, std::nullopt, {}, "new"}});
  const Decoded heard = ask(head + folder("dir", {}, 2));
  ASSERT_FALSE(heard.messages.empty());
  EXPECT_EQ(std::get<Error>(heard.messages.back().body).refusal.error, FileError::malformed);
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileFolders, CountAsRequestsOfTheConnection) {
  server().requests_per_connection = 3;
  std::string says;
  for (std::uint32_t i = 1; i <= 5; ++i) says += folder("d" + std::to_string(i), {.mode = 0755}, i);
  EXPECT_EQ(ask(says).messages.size(), 3U);
  EXPECT_EQ(entries(), 5U);
}

}  // namespace
}  // namespace joust::file
