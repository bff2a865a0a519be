// SPDX-License-Identifier: MIT
//
// Uploads that outlive an interruption: the partial file, its journal, and what the next attempt makes of
// them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "files/store/partial_fixture.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::check;
using test::digest_of;
using test::text_of;

using PartialUpload = test::PartialUploadTest;

TEST_F(PartialUpload, HasTheSourcesTimeAndModeInTheEnd) {
  auto upload = begin();
  EXPECT_EQ(resume(*upload).verified, 0U);
  upload_text(*upload, 0, text_.size());
  EXPECT_FALSE(fs::exists(path("new"))) << "before it is sealed";
  ASSERT_TRUE(seal(*upload));
  struct stat facts {};
  ASSERT_EQ(::stat(path("new").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0640U);
  EXPECT_EQ(facts.st_mtim.tv_sec, 1'234'567'890);
  EXPECT_EQ(facts.st_mtim.tv_nsec, 987'654'321);
  EXPECT_EQ(entries(), 3U);
}

TEST_F(PartialUpload, IsOnTheDiskBeforeItHasItsName) {
  UploadRequest synced = request();
  synced.wishes->synced = true;
  auto upload = storage().upload(synced).value();
  resume(*upload);
  upload_text(*upload, 0, text_.size());
  ASSERT_TRUE(seal(*upload));
  EXPECT_EQ(text_of(path("new")), text_);
}

TEST_F(PartialUpload, GoesOnAfterAnInterruption) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 4 * kMiB);
  upload.reset();
  EXPECT_EQ(hidden().size(), 2U) << "the file and its journal stay";
  EXPECT_GE(goes_on(4 * kMiB), 3 * kMiB);
}

TEST_F(PartialUpload, GoesOnAfterItsProcessWasKilled) {
  const auto left = killed_after(6 * kMiB);
  put_back(left);
  EXPECT_GE(goes_on(6 * kMiB), 5 * kMiB);
}

TEST_F(PartialUpload, GoesWhenTheFileThatItWasToReplaceIsWanted) {
  const auto left = killed_after(6 * kMiB);
  std::ofstream(path("new")) << "the old one";
  put_back(left);
  storage().forget_interrupted("old");
  EXPECT_EQ(hidden(), left) << "of another name";
  ASSERT_TRUE(storage().sync("new"));
  EXPECT_EQ(hidden(), left) << "whoever asks for the disk may send another version next";
  storage().forget_interrupted("new");
  EXPECT_TRUE(hidden().empty());
  EXPECT_EQ(text_of(path("new")), "the old one");
}

// Zeros that stand for what could not be read. An ordinary loss takes nothing of what was noted.
TEST_F(PartialUpload, GoesOnBeforeBytesThatAreNotTheSources) {
  for (const bool distrusted : {false, true}) {
    auto upload = begin();
    resume(*upload);
    upload_text(*upload, 0, 2 * kMiB);
    const ByteRange range{2 * kMiB, 4 * kMiB};
    ASSERT_TRUE(upload->take(range));
    test::store(*upload, distrusted ? std::string(text_.size(), '\0') : text_, {range.offset, 3 * kMiB});
    if (distrusted) upload->distrust(range);
    upload->give_back(range);
    upload.reset();
    const std::uint64_t verified = goes_on(5 * kMiB);
    EXPECT_EQ(verified == 2 * kMiB, distrusted) << verified;
  }
}

// However little comes over each connection behind the first MiB, and however many there are.
TEST_F(PartialUpload, GoesOnWithTheLeastThatHasCome) {
  constexpr std::uint64_t kLittle = 50'000;
  std::uint64_t there = 0;
  while (there + kMiB < text_.size()) {
    auto upload = begin();
    ASSERT_EQ(resume(*upload).verified, there);
    const std::uint64_t more = there == 0 ? kMiB : kLittle;
    upload_text(*upload, there, there + more);
    there += more;
    upload.reset();
  }
  auto left = hidden();
  EXPECT_LE(of_kind(left, kJournal).size(), kJournalHeadBytes + 7 * kMilestoneBytes);
  EXPECT_EQ(goes_on(there), there);
}

TEST_F(PartialUpload, KeepsNothingBelowTheFirstMiB) {
  const std::uint64_t before = storage().quota().left();
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, kMiB - 1);
  upload.reset();
  EXPECT_TRUE(hidden().empty());
  EXPECT_EQ(storage().unfinished(), 0U);
  EXPECT_EQ(storage().quota().left(), before);
}

// It would leave nothing, so that it needs no name, and no other process has to wait for it. The name is for
// the first that is complete.
TEST_F(PartialUpload, HasNoNameWhereItIsShorterThanTheFirstMiB) {
  text_.resize(kMiB - 1);
  TreeStorage other(std::make_unique<DirectoryTree>(folder_.file("root")), {});
  const auto one = begin(), late = other.upload(request(2)).value();
  for (const auto& upload : {one, late}) {
    resume(*upload);
    upload_text(*upload, 0, text_.size());
  }
  EXPECT_TRUE(hidden().empty());
  EXPECT_TRUE(seal(*one));
  EXPECT_EQ(seal(*late).error().error, FileError::exists);
  EXPECT_EQ(text_of(path("new")), text_);
  EXPECT_TRUE(hidden().empty());
}

// What the kernel has moved is digested in larger parts, and counts all the same.
TEST_F(PartialUpload, GoesOnWithWhatNobodyHasSeen) {
  storage({.write = FileWrite::splice});
  auto upload = begin();
  resume(*upload);
  ASSERT_TRUE(upload->take({0, kMiB * 3 / 2}));
  test::store(*upload, text_, {0, kMiB * 3 / 2}, false);
  upload->finish({0, kMiB * 3 / 2});
  upload.reset();
  EXPECT_EQ(goes_on(kMiB * 3 / 2), kMiB * 3 / 2);
}

// The rest of a lost range may come with other bytes than before.
TEST_F(PartialUpload, DigestsOnlyALostRangeAgain) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 2 * kMiB);
  upload_text(*upload, 2 * kMiB, 3 * kMiB);
  const ByteRange range{3 * kMiB, 2 * kMiB};
  ASSERT_TRUE(upload->take(range));
  test::store(*upload, std::string(text_.size(), '?'), {range.offset, kMiB + 5});
  EXPECT_EQ(upload->left_to_check(), text_.size() - 4 * kMiB - 5);
  upload->give_back(range);
  EXPECT_EQ(upload->left_to_check(), text_.size() - 3 * kMiB);
  upload_text(*upload, range.offset, text_.size());
  ASSERT_TRUE(seal(*upload));
  EXPECT_EQ(text_of(path("new")), text_);
}

// Bytes behind those that were noted are not looked at by anybody.
TEST_F(PartialUpload, GivesItsNameToNothingBehindTheFile) {
  auto left = killed_after(6 * kMiB);
  of_kind(left, kPartial).resize(text_.size() + 3 * kMiB, 'x');
  put_back(left);
  EXPECT_GE(goes_on(6 * kMiB), 5 * kMiB);
}

TEST_F(PartialUpload, IsSealedOnlyWhereAllIsThere) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, 6 * kMiB);
  EXPECT_EQ(upload->seal(digest_of(text_)).error().error, FileError::malformed);
  upload_text(*upload, 6 * kMiB, text_.size());
  EXPECT_TRUE(seal(*upload));
}

TEST_F(PartialUpload, NamesNothingWithAnotherDigestAndStartsOver) {
  auto upload = begin();
  resume(*upload);
  upload_text(*upload, 0, text_.size());
  ASSERT_TRUE(upload->seal(digest_of("something else")));
  EXPECT_EQ(check(*upload).error().error, FileError::digest_differs);
  upload.reset();
  EXPECT_FALSE(fs::exists(path("new")));
  EXPECT_TRUE(hidden().empty()) << "what is wrong is not gone on with";
}

TEST_F(PartialUpload, StartsOverForAnotherSource) {
  const auto left = killed_after(6 * kMiB);
  for (const int difference : {0, 1, 2}) {
    put_back(left);
    UploadRequest other = request();
    if (difference == 0) other.wishes->modified_ns += 1;
    if (difference == 1) other.wishes->source = 9;
    if (difference == 2) other.size += 1;
    auto upload = storage().upload(other).value();
    const auto resumed = resume(*upload);
    EXPECT_EQ(resumed.verified, 0U);
    EXPECT_GT(resumed.discarded, 0U);
    upload.reset();
    EXPECT_TRUE(hidden().empty());
  }
}

TEST_F(PartialUpload, SurvivesEveryDamageOfItsJournal) {
  const auto left = killed_after(6 * kMiB);
  auto copy = left;
  const std::size_t size = of_kind(copy, kJournal).size();
  ASSERT_GE(size, kJournalHeadBytes + 2 * kMilestoneBytes);
  for (std::size_t place = 0; place < size; place += 7) {
    auto damaged = left;
    of_kind(damaged, kJournal)[place] ^= 1;
    put_back(damaged);
    const std::size_t good = place < kJournalHeadBytes ? 0 : (place - kJournalHeadBytes) / kMilestoneBytes;
    EXPECT_LT(goes_on(6 * kMiB), (good + 1) * 2 * kMiB) << place;
  }
  for (std::size_t cut = 0; cut < size; cut += 11) {
    auto torn = left;
    of_kind(torn, kJournal).resize(cut);
    put_back(torn);
    goes_on(6 * kMiB);
  }
}

TEST_F(PartialUpload, ThrowsAwayWhatIsDamagedOnTheDisk) {
  const auto left = killed_after(6 * kMiB);
  for (const std::uint64_t place : {std::uint64_t{0}, 2 * kMiB, 3 * kMiB, 5 * kMiB}) {
    auto damaged = left;
    of_kind(damaged, kPartial)[place] ^= 1;
    put_back(damaged);
    EXPECT_LE(goes_on(6 * kMiB), place);
  }
  auto shorter = left;
  of_kind(shorter, kPartial).resize(3 * kMiB);
  put_back(shorter);
  EXPECT_LE(goes_on(6 * kMiB), 3 * kMiB);
}

// A journal without its file, as a kill between the two removals leaves it, and the other way round.
TEST_F(PartialUpload, SurvivesTheLossOfEitherFile) {
  for (const std::string_view kind : {kPartial, kJournal}) {
    auto left = killed_after(6 * kMiB);
    std::erase_if(left, [kind](const auto& file) { return file.first.starts_with(kind); });
    put_back(left);
    EXPECT_EQ(goes_on(6 * kMiB), 0U);
  }
}

TEST_F(PartialUpload, BelongsToOneProcessAtATime) {
  const auto one = begin(1);
  EXPECT_EQ(storage().upload(request(2)).error().error, FileError::busy);
  TreeStorage other(std::make_unique<DirectoryTree>(folder_.file("root")), {});
  EXPECT_EQ(other.upload(request(3)).error().error, FileError::busy);
}

TEST_F(PartialUpload, FollowsNoLinkThatLiesInItsPlace) {
  const auto left = killed_after(4 * kMiB);
  for (const auto& [name, text] : left) {
    fs::create_symlink(folder_.file("secret"), path(name));
    EXPECT_FALSE(storage().upload(request())) << name;
    EXPECT_EQ(text_of(folder_.file("secret")), "secret");
    fs::remove(path(name));
    fs::create_hard_link(folder_.file("secret"), path(name));
    EXPECT_FALSE(storage().upload(request())) << name;
    EXPECT_EQ(text_of(folder_.file("secret")), "secret");
    fs::remove(path(name));
  }
}

TEST_F(PartialUpload, IsFoundByItsNumberOnlyWhileItIsThere) {
  auto one = begin(7);
  UploadRequest again{.name = "new", .size = text_.size(), .id = 7, .begun = true};
  EXPECT_EQ(storage().upload(again).value(), one);
  again.size += 1;
  EXPECT_FALSE(storage().upload(again)) << "another size";
  again.size -= 1;
  one.reset();
  EXPECT_EQ(storage().upload(again).error().error, FileError::not_found);
}

TEST_F(PartialUpload, MakesDirectoriesWhereItIsAsked) {
  UploadRequest deep = request();
  deep.name = "a/b/c";
  EXPECT_EQ(storage().upload(deep).error().error, FileError::not_found);
  deep.wishes->makes_parents = true;
  EXPECT_TRUE(storage().upload(deep));
  EXPECT_TRUE(fs::is_directory(path("a/b")));
  fs::create_directory_symlink(folder_.path(), path("link"));
  deep.name = "link/x/y";
  EXPECT_FALSE(storage().upload(deep));
  EXPECT_FALSE(fs::exists(folder_.file("x")));
}

TEST_F(PartialUpload, ReplacesAFileOnlyIfBothSidesWantIt) {
  UploadRequest old = request();
  old.name = "old";
  EXPECT_EQ(storage().upload(old).error().error, FileError::exists);
  old.wishes->overwrites = true;
  EXPECT_EQ(storage().upload(old).error().error, FileError::exists);
  storage_.reset();
  EXPECT_TRUE(storage({.existing = Existing::replace}).upload(old));
  old.wishes->overwrites = false;
  old.id = 2;
  EXPECT_EQ(storage().upload(old).error().error, FileError::exists);
}

}  // namespace
}  // namespace joust
