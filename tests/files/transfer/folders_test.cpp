// SPDX-License-Identifier: MIT
//
// Directories without files, which are made on the server.
#include <sys/stat.h>
#include <unistd.h>

#include "files/transfer/answering.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;
using test::Joined;

class TransferFolders : public test::TransferAnswers {
 protected:
  std::string tree(const std::vector<std::string>& folders) {
    for (const std::string& name : folders) fs::create_directories(folder_.file("tree/" + name));
    return folder_.file("tree");
  }
  static SendPlan plan_for(const std::vector<std::string>& paths, bool synced = false) {
    SendPlan plan = plan_of(paths);
    plan.wishes.makes_parents = true;
    plan.wishes.synced = synced;
    return plan;
  }
  // "name" of each directory that is to be made.
  static std::vector<std::string> folders_of(const SendPlan& plan) {
    std::vector<std::string> names;
    for (const SourceItem& item : plan.items)
      if (item.is_folder && !item.is_parent) names.push_back(item.name);
    return names;
  }
};

TEST_F(TransferFolders, AreMadeWithTheirModes) {
  const std::string from = tree({"a/b/c", "full"});
  source("tree/full/file", "text");
  ASSERT_EQ(::chmod(folder_.file("tree/a/b/c").c_str(), 0711), 0);
  for (const bool synced : {false, true})
    for (const Pair::Cut& cut :
         {Pair::Cut(Pair::whole), Pair::Cut([](std::size_t) { return std::size_t{3}; })}) {
      SendTransfer sending(plan_for({from}, synced));
      Joined(sending, server(), cut).run();
      EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
      EXPECT_EQ(sending.counts().files, 1U);
      EXPECT_EQ(sending.counts().folders, 1U);
      EXPECT_EQ(sending.counts().total, 4U);
      struct stat facts {};
      ASSERT_EQ(::stat(path("tree/a/b/c").c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 07777, 0711U);
      fs::remove_all(path("tree"));
    }
}

// One with no more than what is left out by intention is as empty there. One with what cannot be sent is not
// made: what is missing may come later, and needs a directory that it can come into.
TEST_F(TransferFolders, AreThoseBelowWhichNothingIsSent) {
  const std::string from = tree({"empty", "links", "full/sub", "bad/.joust-own", "deep/er/empty"});
  fs::create_symlink("nowhere", folder_.file("tree/links/link"));
  source("tree/full/sub/file", "text");
  const SendPlan plan = plan_for({from});
  EXPECT_EQ(folders_of(plan), (std::vector<std::string>{"tree/deep/er/empty", "tree/empty", "tree/links"}));
  EXPECT_EQ(plan.missing.size(), 1U);
  EXPECT_NE(plan.missing.front().find(".joust-own"), std::string::npos);
}

TEST_F(TransferFolders, AreNotMadeOfThePathThatEndsInADot) {
  fs::create_directories(folder_.file("tree/sub"));
  source("tree/sub/file", "text");
  const std::string tree = folder_.file("tree");
  for (const auto& [path, name] : {std::pair{tree + "/.", "there/sub/file"},
                                   {tree + "/sub/..", "there/sub/file"},
                                   {tree, "there/tree/sub/file"},
                                   {tree + "/", "there/tree/sub/file"}}) {
    const auto list = list_sources({path}, true, "there");
    ASSERT_TRUE(list) << list.error();
    EXPECT_EQ(list->items.back().name, name) << path;
  }
}

TEST_F(TransferFolders, OfTwoPathsAreOne) {
  for (const char* name : {"one/tree/x/y", "two/tree/x/y", "two/tree/z", "three/tree/x/w"})
    fs::create_directories(folder_.file(name));
  source("three/tree/x/w/file", "text");
  std::vector<std::string> paths;
  for (const char* name : {"one/tree", "two/tree", "three/tree"}) paths.push_back(folder_.file(name));
  EXPECT_EQ(folders_of(plan_for(paths)), (std::vector<std::string>{"tree/x/y", "tree/z"}));
  fs::create_directories(folder_.file("three/tree/x/y/sub"));
  EXPECT_EQ(folders_of(plan_for(paths)), (std::vector<std::string>{"tree/z", "tree/x/y/sub"}));
  fs::remove_all(folder_.file("three/tree/x"));
  source("three/tree/x", "text");
  source("three/tree/z", "text");
  const auto list = list_sources(paths, true, "");
  ASSERT_FALSE(list) << "a file and a directory of one name";
  EXPECT_NE(list.error().find("would both be 'tree/x'"), std::string::npos) << list.error();
}

// Its answer was lost with the connection, wherever that was: the directory is made, and counts.
TEST_F(TransferFolders, AreAskedForAgainAfterALostConnection) {
  const std::string from = tree({"a", "b", "c"});
  for (std::uint64_t most = 1; most < 400; most += 13) {
    SendTransfer sending(plan_for({from}));
    Joined(sending, server(), Pair::whole, most).lose();
    Joined(sending, server()).run();
    EXPECT_TRUE(sending.over());
    EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
    EXPECT_EQ(sending.counts().folders, 3U) << most;
    EXPECT_EQ(entries("tree"), 3U);
    fs::remove_all(path("tree"));
  }
}

TEST_F(TransferFolders, CountOnlyWhereTheyAreMade) {
  const std::string from = tree({"a", "b"});
  fs::create_directories(path("tree/a"));
  for (const std::uint64_t made : {1U, 0U}) {
    SendTransfer sending(plan_for({from}));
    Joined(sending, server()).run();
    EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
    EXPECT_EQ(sending.counts().folders, made);
    EXPECT_EQ(sending.counts().files + sending.counts().skipped + sending.counts().failed, 0U);
  }
}

// Also one that its owner may not write to, which has its mode when all is in it.
TEST_F(TransferFolders, HaveTheirModesWhateverComesIntoThem) {
  storage({.existing = Existing::replace});
  const std::string from = tree({"private/deep/er", "closed/in", "closed/empty"});
  for (const char* name : {"private/file", "private/deep/er/file", "closed/file", "closed/in/file"})
    source("tree/" + std::string(name), content(100));
  source("tree/closed/large", content(kRangeBytes + 5));
  const std::vector<std::pair<std::string, mode_t>> modes{
      {"private/deep/er", 0750}, {"private/deep", 0711}, {"private", 0700}, {"closed/in", 0500},
      {"closed/empty", 0511},    {"closed", 0555},       {"", 0751}};
  const auto set = [](const std::string& path, mode_t mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0); };
  for (const auto& [name, mode] : modes) set(from + "/" + name, mode);
  for (const bool is_lost : {false, true}) {
    SendTransfer sending(plan_for({from}));
    if (is_lost) Joined(sending, server(), Pair::whole, 400).lose();
    Joined(sending, server()).run();
    EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
    EXPECT_TRUE(sending.over());
    EXPECT_EQ(sending.counts().files, 5U);
    EXPECT_EQ(sending.counts().folders, 1U);
    for (const auto& [name, mode] : modes) {
      struct stat facts {};
      ASSERT_EQ(::stat(path("tree/" + name).c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 07777, mode) << name << is_lost;
    }
    for (const auto& [name, mode] : modes) set(path("tree/" + name), 0700);
    fs::remove_all(path("tree"));
  }
  for (const auto& [name, mode] : modes) set(from + "/" + name, 0700);
}

TEST_F(TransferFolders, KeepTheModesTheyHaveUnlessTheyAreOverwritten) {
  storage({.existing = Existing::replace});
  const std::string from = tree({"closed", "empty"});
  source("tree/closed/file", "text");
  for (const char* name : {"closed", "empty"}) ASSERT_EQ(::chmod((from + "/" + name).c_str(), 0511), 0);
  for (const char* name : {"tree/closed", "tree/empty"}) {
    fs::create_directories(path(name));
    ASSERT_EQ(::chmod(path(name).c_str(), 0770), 0);
  }
  for (const bool overwrites : {false, true}) {
    SendPlan plan = plan_for({from});
    plan.wishes.overwrites = overwrites;
    SendTransfer sending(std::move(plan));
    Joined(sending, server()).run();
    EXPECT_TRUE(sending.complaints().empty()) << sending.complaints().front();
    EXPECT_EQ(sending.counts().folders, 0U);
    for (const char* name : {"tree/closed", "tree/empty"}) {
      struct stat facts {};
      ASSERT_EQ(::stat(path(name).c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 07777, overwrites ? 0511U : 0770U) << name;
    }
  }
}

TEST_F(TransferFolders, KeepNoOthersBackWhereOneIsRefused) {
  const std::string from = tree({"a", "b", "c"});
  fs::create_directories(path("tree"));
  std::ofstream(path("tree/b")) << "text";
  for (const bool overwrites : {false, true}) {
    SendPlan plan = plan_for({from});
    plan.wishes.overwrites = overwrites;
    SendTransfer sending(std::move(plan));
    Joined(sending, server()).run();
    EXPECT_EQ(sending.counts().failed, 1U);
    ASSERT_EQ(sending.complaints().size(), 1U);
    EXPECT_TRUE(sending.complaints()[0].starts_with("tree/b: the server says: exists (and is no directory"));
    EXPECT_EQ(entries("tree"), 3U);
    EXPECT_EQ(joust::test::text_of(path("tree/b")), "text");
  }
}

TEST_F(TransferFolders, AreNotWaitedForOneByOne) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("d" + std::to_string(i));
  SendTransfer sending(plan_for({tree(names)}));
  int asked = 0;
  const auto silent = [&](const file::Message& message) -> std::optional<file::Body> {
    asked += std::holds_alternative<file::Folder>(message.body) ? 1 : 0;
    return std::nullopt;
  };
  run(sending, silent, std::chrono::seconds(1));
  EXPECT_EQ(asked, 101) << "the one that they are in, too";
}

TEST_F(TransferFolders, WaitForAServerThatIsBusy) {
  SendTransfer sending(plan_for({tree({"a"})}));
  int asked = 0;
  const auto answer = [&](const file::Message&) -> std::optional<file::Body> {
    if (++asked < 5) return file::Error{{FileError::busy, ""}};
    return file::Stored{.complete = true};
  };
  run(sending, answer, std::chrono::seconds(10));
  EXPECT_EQ(sending.counts().folders, 1U);
  EXPECT_EQ(asked, 6) << "both";
}

}  // namespace
}  // namespace joust::transfer
