// SPDX-License-Identifier: MIT
#include "files/store/upload/memory_tree.hpp"

#include <gtest/gtest.h>

#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

class MemoryStorage : public testing::Test {
 protected:
  TreeStorage& storage(const StorageRules& rules = {}, std::size_t most_files = 100) {
    if (!storage_) storage_ = std::make_unique<TreeStorage>(std::make_unique<MemoryTree>(most_files), rules);
    return *storage_;
  }
  // The error, or none.
  FileError upload_text(std::string_view name, const std::string& text) {
    auto upload = storage().upload({.name = name, .size = text.size(), .id = ++id_});
    if (!upload) return upload.error().error;
    const ByteRange whole{0, text.size()};
    EXPECT_TRUE((*upload)->take(whole));
    test::store(**upload, text, whole);
    EXPECT_TRUE((*upload)->finish(whole));
    const auto checked = test::check(**upload);
    return checked ? FileError::none : checked.error().error;
  }
  std::string text_of(std::string_view name) {
    const auto file = storage().open(name);
    if (!file) return std::string(error_name(file.error().error));
    std::string text(file->version.size, '\0');
    EXPECT_EQ(file->file->read_at(0, std::as_writable_bytes(std::span(text))), text.size());
    return text;
  }

  std::unique_ptr<TreeStorage> storage_;
  std::uint64_t id_ = 0;
};

TEST_F(MemoryStorage, KeepsWhatIsSent) {
  EXPECT_EQ(text_of("new"), "not found");
  EXPECT_EQ(upload_text("new", "written"), FileError::none);
  EXPECT_EQ(text_of("new"), "written");
  EXPECT_EQ(upload_text("empty", ""), FileError::none);
  EXPECT_EQ(text_of("empty"), "");
}

TEST_F(MemoryStorage, HasNoDiskToWaitFor) {
  EXPECT_EQ(upload_text("new", "written"), FileError::none);
  const auto entry = storage().sync("new");
  ASSERT_TRUE(entry) << "whoever asks may take the file for done";
  EXPECT_EQ(*entry, nullptr);
}

TEST_F(MemoryStorage, TakesBytesInEveryWay) {
  for (const FileWrite write : {FileWrite::write, FileWrite::splice, FileWrite::mmap, FileWrite::writev}) {
    storage_.reset();
    storage({.write = write});
    EXPECT_EQ(upload_text("new", "written"), FileError::none);
    EXPECT_EQ(text_of("new"), "written");
  }
}

TEST_F(MemoryStorage, ReplacesOnlyWhereThatIsAllowed) {
  EXPECT_EQ(upload_text("new", "first"), FileError::none);
  EXPECT_EQ(upload_text("new", "second"), FileError::exists);
  storage_.reset();
  storage({.existing = Existing::replace});
  EXPECT_EQ(upload_text("new", "first"), FileError::none);
  const auto reading = storage().open("new");
  EXPECT_EQ(upload_text("new", "second"), FileError::none);
  EXPECT_EQ(text_of("new"), "second");
  std::string text(5, '\0');
  EXPECT_TRUE(reading->file->read_at(0, std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(text, "first") << "a reader of the old file goes on with it";
}

TEST_F(MemoryStorage, LetsOneOfTwoToOneNameWin) {
  auto one = storage().upload({.name = "new", .size = 1, .id = 1});
  auto other = storage().upload({.name = "new", .size = 1, .id = 2});
  ASSERT_TRUE(one && other && (*one)->take({0, 1}) && (*other)->take({0, 1}));
  test::store(**one, "1", {0, 1}), test::store(**other, "2", {0, 1});
  ASSERT_TRUE((*one)->finish({0, 1}) && (*other)->finish({0, 1}));
  EXPECT_TRUE(test::check(**other));
  EXPECT_EQ(test::check(**one).error().error, FileError::exists);
  EXPECT_EQ(text_of("new"), "2");
}

TEST_F(MemoryStorage, HasNoDirectories) {
  EXPECT_EQ(upload_text("sub/new", "written"), FileError::not_found);
}

TEST_F(MemoryStorage, BoundsItsFiles) {
  storage({}, 2);
  EXPECT_EQ(upload_text("a", "1"), FileError::none);
  EXPECT_EQ(upload_text("b", "2"), FileError::none);
  EXPECT_EQ(upload_text("c", "3"), FileError::busy);
}

TEST_F(MemoryStorage, LeavesMostDescriptorsToOthers) {
  const test::DescriptorLimit limit(80);
  storage_ = std::make_unique<TreeStorage>(std::make_unique<MemoryTree>(), StorageRules{});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(upload_text("file" + std::to_string(i), "1"), FileError::none);
  EXPECT_EQ(upload_text("another", "1"), FileError::busy);
  EXPECT_TRUE(storage().open("file0"));
}

TEST_F(MemoryStorage, KeepsNothingOfAnAbandonedUpload) {
  {
    auto upload = storage().upload({.name = "new", .size = 6, .id = 1});
    ASSERT_TRUE(upload && (*upload)->take({0, 3}));
    test::store(**upload, "abc", {0, 3});
  }
  EXPECT_EQ(text_of("new"), "not found");
  EXPECT_EQ(upload_text("new", "written"), FileError::none);
}

}  // namespace
}  // namespace joust
