// SPDX-License-Identifier: MIT
//
// Files that change, go or are replaced while they are served: small ones are kept for a moment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/fd.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/file_version.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "protocols/http_fixture.hpp"
#include "temporary_folder.hpp"

namespace joust::http::test {
namespace {

namespace fs = std::filesystem;

constexpr Duration kASecond = std::chrono::seconds(1);  // what docs/http-protocol.md allows

// A file on the disk that changes at its first read.
class Unsteady : public File {
 public:
  Unsteady(const std::string& path, std::string_view text, std::function<void()> meanwhile)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
        meanwhile_(std::move(meanwhile)) {
    EXPECT_EQ(::write(fd_.get(), text.data(), text.size()), text.size());
  }
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const ssize_t n = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    EXPECT_EQ(::ftruncate(fd_.get(), 0), 0);
    meanwhile_();
    return static_cast<std::size_t>(n);
  }
  std::expected<std::size_t, int> write_at(std::uint64_t, Bytes) override { return std::unexpected(EBADF); }
  int descriptor() const override { return fd_.get(); }

 private:
  const Fd fd_;
  const std::function<void()> meanwhile_;
};

class HttpKeptFiles : public HttpTest {
 protected:
  void SetUp() override { with_files_ = true; }
  std::string body(const std::string& target) { return get(target).body; }
  std::string code(const std::string& target) { return get(target).status.substr(9, 3); }
  void add_unsteady(const std::string& name, std::string_view text, std::function<void()> meanwhile) {
    auto file = std::make_shared<Unsteady>(folder_.file(name), text, std::move(meanwhile));
    storage_.files[name] = {.file = file, .version = version_of(file->descriptor())};
  }

  ::joust::test::TemporaryFolder folder_;
};

TEST_F(HttpKeptFiles, AreNotOpenedForEachRequest) {
  storage_.add("a", "bytes");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(body("/a"), "bytes");
  again();
  EXPECT_EQ(storage_.opened, 1U) << "requests of one moment share what was read";
}

TEST_F(HttpKeptFiles, AreNewAfterASecond) {
  storage_.add("a", "old");
  storage_.add("b", "stays");
  EXPECT_EQ(body("/a"), "old");
  storage_.add("a", "newer");
  now_ += kASecond;
  const Reply reply = get("/a");
  EXPECT_EQ(reply.body, "newer");
  EXPECT_EQ(reply.fields.at("Content-Length"), "5");
  EXPECT_EQ(reply.fields.at("ETag").substr(0, 3), "\"5-");
  EXPECT_EQ(body("/b"), "stays");
}

// A file that is asked for again and again is not kept for longer than one that is not.
TEST_F(HttpKeptFiles, AreNewAfterASecondHoweverOftenTheyAreAskedFor) {
  storage_.add("a", "old");
  EXPECT_EQ(body("/a"), "old");
  storage_.add("a", "new");
  const Time replaced = now_;
  while (now_ < replaced + kASecond) {
    now_ += kASecond / 20;
    const std::string found = body("/a");
    EXPECT_TRUE(found == "old" || found == "new");
  }
  EXPECT_EQ(body("/a"), "new");
}

TEST_F(HttpKeptFiles, AreGoneAfterASecond) {
  storage_.add("removed", "bytes");
  storage_.add("locked", "bytes");
  EXPECT_EQ(code("/removed"), "200");
  EXPECT_EQ(code("/locked"), "200");
  storage_.files.erase("removed");
  storage_.refusals["locked"] = FileError::not_permitted;
  now_ += kASecond;
  EXPECT_EQ(code("/removed"), "404");
  EXPECT_EQ(code("/locked"), "403");
}

TEST_F(HttpKeptFiles, ThatAreMissingAreFoundAtOnce) {
  EXPECT_EQ(code("/a"), "404");
  storage_.add("a", "bytes");
  EXPECT_EQ(body("/a"), "bytes");
}

TEST_F(HttpKeptFiles, ThatChangeWhileTheyAreReadAreReadAgain) {
  add_unsteady("a", "old", [&] { storage_.add("a", "newer"); });
  const Reply reply = get("/a");
  EXPECT_EQ(reply.body, "newer");
  EXPECT_EQ(reply.fields.at("ETag").substr(0, 3), "\"5-");
}

TEST_F(HttpKeptFiles, ThatAlwaysChangeAreSentAndNotKept) {
  std::string text;
  std::function<void()> change = [&] { add_unsteady("log", text += "+", change); };
  change();
  const std::string first = body("/log"), second = body("/log");
  EXPECT_TRUE(first.starts_with("+"));
  EXPECT_GT(second.size(), first.size());
}

TEST_F(HttpKeptFiles, ThatAreLargeAreOpenedForEachRequest) {
  storage_.add("large", std::string(kSmallFile + 1, 'x'));
  body("/large");
  storage_.add("large", std::string(kSmallFile + 1, 'y'));
  EXPECT_EQ(body("/large"), std::string(kSmallFile + 1, 'y'));
}

TEST_F(HttpKeptFiles, AreLimitedInNumber) {
  constexpr std::size_t kMore = KeptFiles::kMostFiles + 10;
  for (std::size_t i = 0; i < kMore; ++i) storage_.add(std::to_string(i), std::to_string(i));
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < kMore; ++i) EXPECT_EQ(body("/" + std::to_string(i)), std::to_string(i));
  EXPECT_EQ(storage_.opened, kMore + 10);
}

TEST_F(HttpKeptFiles, AreLimitedInBytes) {
  constexpr std::size_t kFits = KeptFiles::kMostBytes / (kSmallFile + KeptFiles::kBesides);
  for (std::size_t i = 0; i <= kFits; ++i) storage_.add(std::to_string(i), std::string(kSmallFile, 'x'));
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i <= kFits; ++i) EXPECT_EQ(body("/" + std::to_string(i)).size(), kSmallFile);
  EXPECT_EQ(storage_.opened, kFits + 2);
}

// The same on a disk.
class HttpFilesOnDisk : public HttpTest {
 protected:
  void SetUp() override { write("a", std::string(1000, 'a')); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
  }
  Reply reply_at(Time now) {
    auto file = files_.open(storage, "a", now);
    if (!file) return {.status = std::string(error_name(file.error().error)), .fields = {}, .body = {}};
    return {.status = "found", .fields = {}, .body = std::string(as_text((*file)->small_bytes()))};
  }

  ::joust::test::TemporaryFolder folder_;
  TreeStorage storage{std::make_unique<DirectoryTree>(folder_.path()),
                      StorageRules{.most_uploads = 0, .read = FileRead::sendfile}};
  KeptFiles files_;
};

TEST_F(HttpFilesOnDisk, AreReplacedWhole) {
  EXPECT_EQ(reply_at(kStart).body, std::string(1000, 'a'));
  for (int i = 1; i < 50; ++i) {
    const std::string text(static_cast<std::size_t>(1000 + i), static_cast<char>('a' + i % 26));
    write("next", text);
    fs::rename(folder_.file("next"), folder_.file("a"));
    const std::string soon = reply_at(kStart + i * kASecond - kASecond / 2 - Duration(1)).body;
    EXPECT_EQ(soon, std::string(soon.size(), soon[0])) << "a reply has the bytes of one version";
    EXPECT_EQ(reply_at(kStart + i * kASecond).body, text);
  }
}

TEST_F(HttpFilesOnDisk, AreCutOffRemovedAndReplacedByLinks) {
  EXPECT_EQ(reply_at(kStart).status, "found");
  write("a", "short");
  EXPECT_EQ(reply_at(kStart + kASecond).body, "short");
  fs::remove(folder_.file("a"));
  EXPECT_EQ(reply_at(kStart + 2 * kASecond).status, error_name(FileError::not_found));
  write("other", "other");
  fs::create_symlink("other", folder_.file("a"));
  EXPECT_NE(reply_at(kStart + 3 * kASecond).status, "found");
  fs::remove(folder_.file("a"));
  fs::create_directory(folder_.file("a"));
  EXPECT_EQ(reply_at(kStart + 4 * kASecond).status, error_name(FileError::not_a_file));
}

}  // namespace
}  // namespace joust::http::test
