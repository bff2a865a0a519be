// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "files/store/upload/local_files.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::digest_of;
using test::text_of;

class Serving : public test::StorageTest {
 protected:
  std::string read(const OpenFile& file) {
    std::string text(100, '\0');
    const auto n = file.file->read_at(0, std::as_writable_bytes(std::span(text)));
    text.resize(n.value_or(0));
    return text;
  }
};

TEST_F(Serving, OpensFiles) {
  const auto file = storage().open("old");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->version.size, 3U);
  EXPECT_GT(file->version.modified_ns, 1'600'000'000'000'000'000);
  EXPECT_EQ(read(*file), "old");
  EXPECT_EQ(storage().open("nothing").error().error, FileError::not_found);
  EXPECT_EQ(storage().open("sub").error().error, FileError::not_a_file);
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(storage().open("fifo").error().error, FileError::not_a_file);
}

TEST_F(Serving, OffersSamplesThatNobodyReplaces) {
  storage({.existing = Existing::replace}).add_sample("gift", generated_file(1'000'000));
  const auto file = storage().open("gift");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->version.size, 1'000'000U);
  EXPECT_EQ(read(*file).size(), 100U);
  EXPECT_EQ(storage().upload({.name = "gift"}).error().error, FileError::exists);
}

TEST_F(Serving, RemembersADigestForAsLongAsTheFileIsTheSame) {
  const auto file = storage(test::kOldFiles).open("old");
  EXPECT_FALSE(file->digest);
  storage().remember(*file, digest_of("old"));
  EXPECT_EQ(storage().open("old")->digest, digest_of("old"));
  std::ofstream(path("old")) << "newer";
  EXPECT_FALSE(storage().open("old")->digest);
}

// A file that shrinks under a mapping would end the process that reads it.
TEST_F(Serving, ShowsNothingOfAMappingBeyondTheEndOfTheFile) {
  storage({.read = FileRead::mmap});
  const auto file = storage().open("old");
  ASSERT_TRUE(file);
  EXPECT_EQ(as_text(file->file->mapped(1, 100)), "ld");
  ASSERT_EQ(::truncate(path("old").c_str(), 2), 0);
  EXPECT_EQ(as_text(file->file->mapped(1, 100)), "l");
  EXPECT_TRUE(file->file->mapped(2, 1).empty());
}

// A limit on the size of files stands for a full disk: both end a write in its middle.
TEST_F(Serving, TellsOfADiskThatTakesNoMore) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, nullptr);
  auto upload = storage().upload({.name = "new", .size = 100'000});
  ASSERT_TRUE(upload && (*upload)->take({0, 100'000}));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 50'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string text(100'000, 'x');
  const auto part = (*upload)->file().write_at(0, as_bytes(text));
  const auto rest = (*upload)->file().write_at(50'000, as_bytes(text).subspan(50'000));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(part);
  EXPECT_EQ(*part, 50'000U);
  ASSERT_FALSE(rest);
  EXPECT_EQ(error_of(rest.error()), FileError::too_large);
  upload->reset();
  EXPECT_EQ(entries(), 2U);
}

class LocalFilesOf : public test::StorageTest {};

TEST_F(LocalFilesOf, RefusesAFileThatDoesNotFitIntoMemoryBeforehand) {
  LocalFiles files({.sink = SinkKind::memory});
  EXPECT_TRUE(files.sink(1 << 20));
  const auto refused = files.sink(std::uint64_t{1} << 60);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, FileError::no_space);
  EXPECT_NE(refused.error().text.find("are needed, but only"), std::string::npos) << refused.error().text;
}

TEST_F(LocalFilesOf, NamesAnOutputOnlyWhenItIsAccepted) {
  LocalFiles ends({.sink = SinkKind::file, .output = path("old")});
  {
    auto sink = ends.sink(3);
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->file().write_at(0, as_bytes("new")));
    EXPECT_TRUE((*sink)->keeps());
    EXPECT_EQ(text_of(path("old")), "old");
    ASSERT_TRUE((*sink)->accept());
  }
  EXPECT_EQ(text_of(path("old")), "new");
  { const auto given_up = ends.sink(3); }
  EXPECT_EQ(entries(), 2U);
}

TEST_F(LocalFilesOf, KnowsTheDigestOfItsSource) {
  EXPECT_EQ(LocalFiles({.source = path("old")}).source().digest, digest_of("old"));
  const LocalFiles generated({.bytes = 100'000}), again({.bytes = 100'000});
  EXPECT_EQ(generated.source().version.size, 100'000U);
  EXPECT_EQ(generated.source().digest, again.source().digest);
  EXPECT_THROW(LocalFiles({.source = path("nothing")}), UnusableFile);
}

}  // namespace
}  // namespace joust
