// SPDX-License-Identifier: MIT
//
// Files that come whole and are synced, in groups, and files that are there and that the disk is to have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "failing_calls.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/disk/named_entry.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::digest_of;
using test::Failing;
using test::text_of;

class GroupOfFiles : public test::StorageTest {
 protected:
  // A file all of whose bytes are there.
  std::shared_ptr<Upload> upload_text(const std::string& name, const std::string& text) {
    auto upload =
        storage().upload({.name = name,
                          .size = text.size(),
                          .id = ++id_,
                          .digest = digest_of(text),
                          .wishes = FileWishes{.mode = 0644, .makes_parents = true, .synced = true}});
    EXPECT_TRUE(upload);
    EXPECT_TRUE((*upload)->take({0, text.size()}));
    test::store(**upload, text, {0, text.size()});
    EXPECT_TRUE((*upload)->finish({0, text.size()}));
    return *upload;
  }
  // All of them are checked once before any is waited for, so that they come together.
  std::vector<FileAnswer<Upload::Check>> checked(const std::vector<std::shared_ptr<Upload>>& uploads) {
    for (const auto& upload : uploads) {
      const auto first = upload->check();
      EXPECT_TRUE(!first || first->waits || first->digest) << "one slice is enough";
    }
    std::vector<FileAnswer<Upload::Check>> answers;
    for (const auto& upload : uploads) answers.push_back(test::check(*upload));
    return answers;
  }
  bool nothing_is_hidden() const {
    for (const auto& entry : fs::recursive_directory_iterator(path(".")))
      if (entry.path().filename().string().starts_with(".joust-")) return false;
    return true;
  }

  std::uint64_t id_ = 0;
};

TEST_F(GroupOfFiles, GetTheirNamesWhenTheDiskHasThem) {
  std::vector<std::shared_ptr<Upload>> uploads;
  for (int i = 0; i < 300; ++i)
    uploads.push_back(upload_text(fmt::format("{}/{}", i % 3, i), std::to_string(i)));
  const auto answers = checked(uploads);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(answers[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(answers[static_cast<std::size_t>(i)]->digest, digest_of(std::to_string(i)));
    EXPECT_EQ(text_of(path(fmt::format("{}/{}", i % 3, i))), std::to_string(i));
  }
  EXPECT_TRUE(nothing_is_hidden());
}

// A folder is synced once for all of its files: far fewer calls than two for each.
TEST_F(GroupOfFiles, AskTheDiskOnceForEachOfThemAndOnceForTheirFolder) {
  constexpr std::uint64_t kFiles = 200;
  std::vector<std::shared_ptr<Upload>> uploads;
  for (std::uint64_t i = 0; i < kFiles; ++i) uploads.push_back(upload_text(std::to_string(i), "text"));
  const Failing failing(Call::fsync, EIO, Failing::kAlways, kFiles + 20);
  for (const auto& answer : checked(uploads)) EXPECT_TRUE(answer);
  EXPECT_EQ(failing.failed(), 0U);
}

// The kernel tells it once, and shows the bytes from its memory afterwards.
TEST_F(GroupOfFiles, WhatTheDiskDidNotTakeIsGoneAndTheOthersAreThere) {
  const std::vector<std::shared_ptr<Upload>> uploads{upload_text("a", "1"), upload_text("b", "2"),
                                                     upload_text("c", "3")};
  const Failing failing(Call::fsync, EIO, 1);
  const auto answers = checked(uploads);
  EXPECT_EQ(failing.failed(), 1U);
  EXPECT_EQ(answers[0].error().error, FileError::input_output);
  EXPECT_TRUE(answers[1]);
  EXPECT_TRUE(answers[2]);
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_EQ(text_of(path("c")), "3");
  EXPECT_TRUE(nothing_is_hidden());
}

TEST_F(GroupOfFiles, ANameThatTheDiskDidNotTakeIsAnError) {
  const auto upload = upload_text("a", "1");
  const Failing failing(Call::fsync, EIO, 1, 1);
  EXPECT_EQ(checked({upload})[0].error().error, FileError::input_output);
}

TEST_F(GroupOfFiles, OneOfTwoWithTheSameNameIsRefused) {
  const auto answers =
      checked({upload_text("new", "first"), upload_text("new", "second"), upload_text("other", "third")});
  EXPECT_NE(answers[0].has_value(), answers[1].has_value());
  EXPECT_TRUE(answers[2]);
  EXPECT_EQ(text_of(path("new")), answers[0] ? "first" : "second");
  EXPECT_EQ(answers[answers[0] ? 1 : 0].error().error, FileError::exists);
  EXPECT_TRUE(nothing_is_hidden());
}

TEST_F(GroupOfFiles, WrongBytesAreNotAmongThem) {
  auto upload = storage().upload({.name = "new",
                                  .size = 4,
                                  .id = 1,
                                  .digest = digest_of("text"),
                                  .wishes = FileWishes{.mode = 0644, .synced = true}});
  ASSERT_TRUE((*upload)->take({0, 4}));
  test::store(**upload, "tent", {0, 4});
  ASSERT_TRUE((*upload)->finish({0, 4}));
  EXPECT_EQ((*upload)->check().error().error, FileError::digest_differs);
  EXPECT_FALSE(fs::exists(path("new")));
  EXPECT_TRUE(nothing_is_hidden());
}

// The connection is lost, or the server ends, meanwhile: of each file all is there or nothing.
TEST_F(GroupOfFiles, OfALostConnectionAreWholeOrNotThere) {
  for (int i = 0; i < 50; ++i) static_cast<void>(upload_text("lost" + std::to_string(i), "text")->check());
  storage_.reset();
  EXPECT_TRUE(nothing_is_hidden());
  for (int i = 0; i < 50; ++i)
    if (const std::string name = path("lost" + std::to_string(i)); fs::exists(name)) {
      EXPECT_EQ(text_of(name), "text");
    }
}

// What is published there would be outside. The files of the other folder get their names.
TEST_F(GroupOfFiles, PublishNothingInAFolderThatWasMovedAway) {
  const std::vector<std::shared_ptr<Upload>> uploads{upload_text("gone/a", "1"), upload_text("gone/b", "2"),
                                                     upload_text("there/c", "3")};
  fs::rename(path("gone"), folder_.file("outside"));
  const auto answers = checked(uploads);
  EXPECT_EQ(answers[0].error().error, FileError::not_found);
  EXPECT_EQ(answers[1].error().error, FileError::not_found);
  EXPECT_TRUE(answers[2]);
  EXPECT_TRUE(fs::is_empty(folder_.file("outside")));
}

// Files under way share the handle of their folder. That of a folder which was moved is not kept.
TEST_F(GroupOfFiles, GoIntoANewFolderWhereTheOldOneWasMovedAway) {
  const auto first = upload_text("sub/a", "1");
  fs::rename(path("sub"), folder_.file("outside"));
  const auto second = upload_text("sub/b", "2");
  EXPECT_FALSE(checked({second})[0]);
  EXPECT_TRUE(checked({upload_text("sub/c", "3")})[0]) << "the first one still holds the old folder";
  EXPECT_EQ(text_of(path("sub/c")), "3");
  EXPECT_TRUE(fs::is_empty(folder_.file("outside")));
}

// The path of one leads to their folder, and that of the other does not.
TEST_F(GroupOfFiles, OfAFolderThatWasRenamedGoWhereTheirPathsLead) {
  for (int round = 0; round < 40; ++round) {
    std::vector<std::shared_ptr<Upload>> uploads;  // the first 40 keep the thread busy, so that two meet
    for (int i = 0; i < 40; ++i) uploads.push_back(upload_text(fmt::format("busy{}/{}", round, i), "text"));
    const std::string before = fmt::format("x{}", round), after = fmt::format("y{}", round);
    const auto a = upload_text(before + "/a", "a");
    fs::rename(path(before), path(after));
    const auto b = upload_text(after + "/b", "b");
    const bool is_a_first = round % 2 == 0;
    uploads.push_back(is_a_first ? a : b);
    uploads.push_back(is_a_first ? b : a);
    const auto answers = checked(uploads);
    const auto& of_a = answers[is_a_first ? 40 : 41];
    ASSERT_FALSE(of_a) << round;
    EXPECT_EQ(of_a.error().error, FileError::not_found) << round;
    EXPECT_TRUE(answers[is_a_first ? 41 : 40]) << round;
    EXPECT_FALSE(fs::exists(path(after + "/a"))) << "it was sent as x/a";
  }
}

// What is there in the old one says nothing of the new one.
TEST_F(GroupOfFiles, AreNotJudgedByWhatIsInTheFolderThatWasMovedAway) {
  ASSERT_TRUE(checked({upload_text("sub/there", "old")})[0]);
  const auto held = upload_text("sub/a", "1");
  fs::rename(path("sub"), folder_.file("outside"));
  EXPECT_TRUE(checked({upload_text("sub/there", "new")})[0]);
  EXPECT_EQ(text_of(path("sub/there")), "new");
  EXPECT_EQ(text_of(folder_.file("outside/there")), "old");
}

// Of those that have their names, in the same group, nothing is to be looked at.
TEST_F(GroupOfFiles, PublishNothingOutsideBesideAFileThatIsOnlySynced) {
  ASSERT_TRUE(checked({upload_text("sub/there", "old")})[0]);
  for (int round = 0; round < 20; ++round) {
    const auto upload = upload_text("sub/new", "new");
    const auto there = storage().sync("sub/there");
    ASSERT_TRUE(there && *there);
    const auto another = storage().sync("sub/there");
    fs::rename(path("sub"), folder_.file("outside"));
    EXPECT_FALSE(checked({upload})[0]);
    EXPECT_FALSE(fs::exists(folder_.file("outside/new"))) << round;
    fs::rename(folder_.file("outside"), path("sub"));
  }
}

TEST_F(GroupOfFiles, OfOneFolderShareItsHandle) {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  std::vector<std::shared_ptr<Upload>> uploads{upload_text("sub/0", "text")};
  const auto before = open_files();
  for (int i = 1; i <= 20; ++i) uploads.push_back(upload_text(fmt::format("sub/{}", i), "text"));
  EXPECT_LE(open_files() - before, 20);
}

class NamedEntries : public test::StorageTest {
 protected:
  void SetUp() override {
    storage();
    std::ofstream(path("large")) << "";
    std::filesystem::resize_file(path("large"), kPublishedAlone);
  }
  std::shared_ptr<NamedEntry> find(const std::string& name) { return tree_.find(name).value_or(nullptr); }

 private:
  DirectoryTree tree_{folder_.file("root")};
};

// Their files are closed: whoever asks over many connections would hold all descriptors.
TEST_F(NamedEntries, WhoseConnectionIsGoneAreNotWaitedFor) {
  std::promise<void> go_on, over;
  GroupCommit commits;
  commits.add_alone([&] { go_on.get_future().wait(); });
  auto entry = find("large");
  ASSERT_TRUE(entry);
  entry->sync(&commits);
  EXPECT_EQ(entry->is_on_disk(), false);
  const std::weak_ptr<NamedEntry> left = entry;
  entry.reset();
  EXPECT_TRUE(left.expired());
  const test::Failing failing(test::Call::fsync, EIO);
  commits.add_alone([&] { over.set_value(); });
  go_on.set_value();
  over.get_future().wait();
  EXPECT_EQ(failing.failed(), 0U);
}

TEST_F(NamedEntries, ThatAreLargeMakeACrowdAsSmallOnesDo) {
  for (const std::string name : {"old", "large"}) {
    {
      const test::SlowDisk slow(std::chrono::minutes(1));
      const auto first = storage().sync(name);
      // The disk is busy with the first ones: with one, or with all that were there when it began, which is
      // less than a crowd.
      for (int asked = 0; asked < 1500 && !storage().is_crowded(); ++asked)
        EXPECT_TRUE(storage().sync(name)) << asked;
      EXPECT_TRUE(storage().is_crowded()) << name;
    }
    storage_.reset();
  }
}

// Both have opened it before the disk has failed. The second sync says nothing.
TEST_F(NamedEntries, AreAllToldOfAFailure) {
  const auto first = find("large"), second = find("large");
  for (const auto& entry : {first, second}) EXPECT_TRUE(entry->watch());
  {
    const test::Failing failing(test::Call::fsync, EIO, 1);
    first->sync(nullptr);
  }
  second->sync(nullptr);
  for (const auto& entry : {first, second}) {
    const auto told = entry->is_on_disk();
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().error, FileError::input_output);
  }
}

}  // namespace

}  // namespace joust
