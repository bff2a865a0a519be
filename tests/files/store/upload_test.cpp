// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "failing_calls.hpp"
#include "files/store/hostile_names.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::check;
using test::digest_of;
using test::store;
using test::text_of;

class Uploading : public test::StorageTest {
 protected:
  const std::string text_ = "what is sent";
  UploadRequest request(std::string_view name, std::uint64_t id = 1) const {
    return {.name = name, .size = text_.size(), .id = id, .digest = digest_of(text_)};
  }
  ByteRange whole() const { return {0, text_.size()}; }

  // All of it at once; the error, or none.
  FileError upload_text(std::string_view name, std::uint64_t id = 1) {
    auto upload = storage().upload(request(name, id));
    if (!upload) return upload.error().error;
    if (auto taken = (*upload)->take(whole()); !taken) return taken.error().error;
    store(**upload, text_, whole());
    EXPECT_TRUE((*upload)->finish(whole()));
    const auto checked = check(**upload);
    return checked ? FileError::none : checked.error().error;
  }
};

TEST_F(Uploading, GivesAFileItsNameWhenAllOfItIsThere) {
  auto upload = storage().upload(request("sub/new"));
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->take({0, 4}));
  ASSERT_TRUE((*upload)->take({4, text_.size() - 4}));
  store(**upload, text_, {4, text_.size() - 4});
  EXPECT_FALSE((*upload)->finish({4, text_.size() - 4}));
  EXPECT_FALSE(fs::exists(path("sub/new")));
  store(**upload, text_, {0, 4});
  EXPECT_TRUE((*upload)->finish({0, 4}));
  EXPECT_FALSE(fs::exists(path("sub/new")));
  const auto checked = check(**upload);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->digest, digest_of(text_));
  EXPECT_EQ(text_of(path("sub/new")), text_);
  EXPECT_EQ(entries("sub"), 1U);
}

TEST_F(Uploading, TakesAFileOfNoBytes) {
  auto upload = storage().upload({.name = "empty"});
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->take({0, 0}));
  EXPECT_TRUE((*upload)->finish({0, 0}));
  ASSERT_TRUE(check(**upload));
  EXPECT_EQ(fs::file_size(path("empty")), 0U);
}

// Also where it has a name while it is under way.
TEST_F(Uploading, LeavesNothingOfAnAbandonedOne) {
  const test::Failing named(test::Call::nameless, EOPNOTSUPP);
  auto upload = storage().upload(request("new"));
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->take({0, 4}));
  store(**upload, text_, {0, 4});
  EXPECT_EQ(entries(), 3U);
  upload->reset();
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Uploading, SharesOneAmongThoseWhoKnowItsNumber) {
  auto one = storage().upload(request("new", 7)), other = storage().upload(request("new", 7));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->get(), other->get());
  EXPECT_NE(storage().upload(request("new", 8))->get(), one->get());
  UploadRequest different = request("new", 7);
  different.size += 1;
  EXPECT_FALSE(storage().upload(different));
  different = request("new", 7);
  different.digest.reset();
  EXPECT_FALSE(storage().upload(different));
}

TEST_F(Uploading, RefusesARangeThatIsTakenOrOutsideOrComesAfterTheEnd) {
  auto upload = storage().upload(request("new"));
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->take({0, 8}));
  EXPECT_EQ((*upload)->take({7, 2}).error().error, FileError::overlap);
  EXPECT_EQ((*upload)->take({8, text_.size()}).error().error, FileError::beyond_end);
  EXPECT_EQ((*upload)->take({text_.size() + 1, 0}).error().error, FileError::beyond_end);
  EXPECT_EQ((*upload)->take({UINT64_MAX, UINT64_MAX}).error().error, FileError::beyond_end);
  (*upload)->give_back({0, 8});
  ASSERT_TRUE((*upload)->take(whole()));
  store(**upload, text_, whole());
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_FALSE((*upload)->take(whole()));
  EXPECT_TRUE(check(**upload));
}

// What was seen of a range that was given back is not what is in the file in the end.
TEST_F(Uploading, DigestsWhatIsThereInTheEnd) {
  auto upload = storage().upload({.name = "new", .size = text_.size()});
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  store(**upload, std::string(text_.size(), '?'), {0, 5});
  (*upload)->give_back(whole());
  ASSERT_TRUE((*upload)->take(whole()));
  store(**upload, text_, whole());
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_EQ(check(**upload)->digest, digest_of(text_));
}

TEST_F(Uploading, DigestsWhatTheKernelMoved) {
  auto upload = storage().upload(request("new"));
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  store(**upload, text_, whole(), false);
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_TRUE(check(**upload));
  EXPECT_EQ(text_of(path("new")), text_);
}

// Ten slices' worth. Some parts come before their turn.
class LargeUpload : public Uploading {
 protected:
  LargeUpload() {
    for (std::size_t i = 0; i < large_.size(); i += 997) large_[i] = static_cast<char>('a' + i % 23);
  }
  // As the kernel moves them: no part is seen in memory.
  void send_parts(Upload& upload) {
    ASSERT_TRUE(upload.take({0, large_.size()}));
    for (std::uint64_t i = 0; i < kParts; ++i)
      store(upload, large_, {(i < 10 ? i + 10 : i < 20 ? i - 10 : i) * kPart, kPart}, false);
    ASSERT_TRUE(upload.finish({0, large_.size()}));
  }
  static constexpr std::uint64_t kPart = 250'000, kParts = 160;
  std::string large_ = std::string(kParts * kPart, '.');
};

TEST_F(LargeUpload, IsDigestedBesideWhatTheKernelMoves) {
  auto upload = storage().upload({.name = "new", .size = large_.size()});
  ASSERT_TRUE(upload);
  send_parts(**upload);
  EXPECT_EQ(check(**upload)->digest, digest_of(large_));
}

// Where no thread can be had for the digest, nothing is left to be read after the last byte either.
TEST_F(LargeUpload, IsDigestedInStepByWhoeverStores) {
  DirectoryTree tree(folder_.file("root"));
  Quota quota(2 * large_.size());
  PlainBytes plain;
  auto upload = DiskUpload::begin(*tree.create("new", {}), nullptr, {.name = "new", .size = large_.size()},
                                  {.quota = &quota, .plain = &plain});
  ASSERT_TRUE(upload);
  send_parts(**upload);
  const auto check = (*upload)->check();
  ASSERT_TRUE(check && check->digest) << "one slice is enough";
  EXPECT_EQ(*check->digest, digest_of(large_));
}

TEST_F(Uploading, NamesNoFileWithAnotherDigest) {
  UploadRequest wrong = request("new");
  wrong.digest = digest_of("other");
  auto upload = storage().upload(wrong);
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  store(**upload, text_, whole());
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_EQ(check(**upload).error().error, FileError::digest_differs);
  upload->reset();
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Uploading, ReplacesAFileOnlyWhereThatIsAllowed) {
  EXPECT_EQ(upload_text("old"), FileError::exists);
  EXPECT_EQ(text_of(path("old")), "old");
  storage_.reset();
  storage({.existing = Existing::replace});
  EXPECT_EQ(upload_text("old"), FileError::none);
  EXPECT_EQ(text_of(path("old")), text_);
  EXPECT_NE(upload_text("sub"), FileError::none) << "a directory is no file to replace";
  fs::create_symlink(folder_.file("secret"), path("link"));
  EXPECT_NE(upload_text("link"), FileError::none);
  EXPECT_EQ(text_of(folder_.file("secret")), "secret");
}

TEST_F(Uploading, ThrowsARehearsalAway) {
  UploadRequest dry_run = request("old");
  dry_run.dry_run = true;
  auto upload = storage().upload(dry_run);
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  store(**upload, text_, whole());
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_EQ(check(**upload)->digest, digest_of(text_));
  upload->reset();
  EXPECT_EQ(text_of(path("old")), "old");
  EXPECT_EQ(entries(), 2U);
}

// Both began when there was no such file: one of them wins, whole.
TEST_F(Uploading, LetsOneOfTwoToOneNameWin) {
  const std::string other_text(text_.size(), 'o');
  auto one = storage().upload(request("new", 1));
  auto other =
      storage().upload({.name = "new", .size = other_text.size(), .id = 2, .digest = digest_of(other_text)});
  ASSERT_TRUE(one && other && (*one)->take(whole()) && (*other)->take(whole()));
  store(**one, text_, {0, 8});
  store(**other, other_text, whole());
  store(**one, text_, {8, text_.size() - 8});
  ASSERT_TRUE((*other)->finish(whole()) && (*one)->finish(whole()));
  EXPECT_TRUE(check(**other));
  EXPECT_EQ(check(**one).error().error, FileError::exists);
  one->reset(), other->reset();
  EXPECT_EQ(text_of(path("new")), other_text);
  EXPECT_EQ(entries(), 3U);
}

TEST_F(Uploading, RefusesEveryHostileNameAndMakesNothing) {
  for (const std::string& name : test::hostile_names()) {
    EXPECT_EQ(upload_text(name), FileError::name_refused) << testing::PrintToString(name);
    EXPECT_EQ(storage().open(name).error().error, FileError::name_refused);
  }
  EXPECT_EQ(upload_text("nothing/new"), FileError::not_found) << "parents are never created";
  EXPECT_EQ(upload_text("old/new"), FileError::not_found);
  EXPECT_EQ(entries(), 2U);
  EXPECT_EQ(text_of(folder_.file("secret")), "secret");
}

// The directory it was begun in is replaced by a link that leads out.
TEST_F(Uploading, StaysWhereItBeganWhenALinkIsSwappedIn) {
  fs::create_directory(folder_.file("outside"));
  auto upload = storage().upload(request("sub/new"));
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  store(**upload, text_, {0, 5});
  fs::rename(path("sub"), path("sub-moved"));
  fs::create_symlink(folder_.file("outside"), path("sub"));
  store(**upload, text_, {5, text_.size() - 5});
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_FALSE(check(**upload));
  upload->reset();
  EXPECT_TRUE(fs::is_empty(folder_.file("outside")));
  EXPECT_TRUE(fs::is_empty(path("sub-moved")));
}

// It is moved out of the root: what is published there would be outside.
TEST_F(Uploading, PublishesNothingInADirectoryThatWasMovedAway) {
  auto upload = storage().upload(request("sub/new"));
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  store(**upload, text_, whole());
  ASSERT_TRUE((*upload)->finish(whole()));
  fs::rename(path("sub"), folder_.file("outside"));
  EXPECT_EQ(check(**upload).error().error, FileError::not_found);
  upload->reset();
  EXPECT_TRUE(fs::is_empty(folder_.file("outside")));
}

TEST_F(Uploading, SaysSoWhenTheDirectoryHasVanished) {
  auto upload = storage().upload(request("sub/new"));
  ASSERT_TRUE(upload && (*upload)->take(whole()));
  fs::remove_all(path("sub"));
  store(**upload, text_, whole());
  ASSERT_TRUE((*upload)->finish(whole()));
  EXPECT_EQ(check(**upload).error().error, FileError::not_found);
  EXPECT_EQ(upload_text("sub/other"), FileError::not_found);
  EXPECT_EQ(upload_text("still"), FileError::none);
}

TEST_F(Uploading, HasLimits) {
  storage({.largest_file = 100, .most_uploads = 2});
  EXPECT_EQ(storage().upload({.name = "new", .size = 101}).error().error, FileError::too_large);
  EXPECT_EQ(storage().upload({.name = "new", .size = UINT64_MAX}).error().error, FileError::too_large);
  auto one = storage().upload(request("a")), other = storage().upload(request("b"));
  EXPECT_EQ(storage().upload(request("c")).error().error, FileError::busy);
  one->reset();
  EXPECT_TRUE(storage().upload(request("c")));
}

TEST_F(Uploading, BoundsTheRangesItKeepsApart) {
  auto upload = storage().upload({.name = "new", .size = 1 << 20});
  ASSERT_TRUE(upload);
  FileAnswer<void> last;
  std::uint64_t offset = 0;
  for (; last && offset < 1 << 20; offset += 2) last = (*upload)->take({offset, 1});
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().error, FileError::busy);
  EXPECT_LT(offset, 10'000U);
}

TEST_F(Uploading, WritesThroughAMapping) {
  storage({.write = FileWrite::mmap});
  EXPECT_EQ(upload_text("new"), FileError::none);
  EXPECT_EQ(text_of(path("new")), text_);
  EXPECT_EQ(storage().plain_bytes().written, 0U);
}

}  // namespace
}  // namespace joust
