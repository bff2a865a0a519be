// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "files/store/storage_fixture.hpp"

namespace joust::test {

// A storage into which "new" is sent as an upload that outlives an interruption.
class PartialUploadTest : public StorageTest {
 protected:
  static constexpr std::uint64_t kMiB = 1 << 20;

  PartialUploadTest() {
    for (std::size_t i = 0; i < text_.size(); i += 61)
      text_[i] = static_cast<char>('a' + (i * 7 + i / 4099) % 26);
  }
  UploadRequest request(std::uint64_t id = 1) const {
    return {.name = "new",
            .size = text_.size(),
            .id = id,
            .wishes = FileWishes{.modified_ns = 1'234'567'890'987'654'321, .mode = 0640, .resumable = true}};
  }
  std::shared_ptr<Upload> begin(std::uint64_t id = 1) { return storage().upload(request(id)).value(); }

  static Upload::Resumption resume(Upload& upload) {
    for (;;)
      if (const auto step = upload.resume(); step.complete) return step;
  }
  // From `from` on, in parts as an engine stores them.
  void upload_text(Upload& upload, std::uint64_t from, std::uint64_t to) {
    const ByteRange range{from, to - from};
    if (range.size == 0) return;  // all of it is there
    ASSERT_TRUE(upload.take(range));
    for (std::uint64_t at = from; at < to; at += kMiB) store(upload, text_, {at, std::min(kMiB, to - at)});
    upload.finish(range);
  }
  FileAnswer<Upload::Check> seal(Upload& upload) {
    if (auto sealed = upload.seal(digest_of(text_)); !sealed) return std::unexpected(sealed.error());
    return check(upload);
  }
  // The hidden files of the directory, by their names.
  std::map<std::string, std::string> hidden() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path(".")))
      if (entry.path().filename().string().starts_with(".joust-"))
        files[entry.path().filename().string()] = text_of(entry.path().string());
    return files;
  }
  // What a process that is killed after so many bytes leaves.
  std::map<std::string, std::string> killed_after(std::uint64_t bytes) {
    auto upload = begin();
    resume(*upload);
    upload_text(*upload, 0, bytes);
    auto left = hidden();
    upload.reset();
    storage_.reset();
    for (const auto& [name, text] : left) std::filesystem::remove(path(name));
    return left;
  }
  void put_back(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) std::ofstream(path(name), std::ios::binary) << text;
  }
  // The next attempt takes over at most `most` bytes, and comes to the right file.
  std::uint64_t goes_on(std::uint64_t most, std::uint64_t id = 1) {
    auto upload = begin(id);
    const auto resumed = resume(*upload);
    EXPECT_LE(resumed.verified, most);
    upload_text(*upload, resumed.verified, text_.size());
    EXPECT_TRUE(seal(*upload));
    upload.reset();
    EXPECT_EQ(text_of(path("new")), text_);
    EXPECT_TRUE(hidden().empty());
    std::filesystem::remove(path("new"));
    return resumed.verified;
  }
  static constexpr std::string_view kPartial = ".joust-partial-", kJournal = ".joust-journal-";
  static std::string& of_kind(std::map<std::string, std::string>& files, std::string_view kind) {
    for (auto& [name, text] : files)
      if (name.starts_with(kind)) return text;
    throw std::runtime_error("there is no such file");
  }

  std::string text_ = std::string(6 * kMiB + 12345, '.');
};

}  // namespace joust::test
