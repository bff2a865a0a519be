// SPDX-License-Identifier: MIT
//
// Files that are there, and that the disk is to have.
#include "files/store/disk/named_entry.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <future>

#include "failing_calls.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

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
