// SPDX-License-Identifier: MIT
//
// The end of a connection that brings a range, without memory: what ends cannot fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "faults/seam.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust::faults {
namespace {

const Call& memory() {
  return **std::ranges::find(all_calls(), "operator new", &Call::name);
}

class UploadWithoutMemory : public test::StorageTest {
 protected:
  UploadRequest request(std::uint64_t id) const {
    return {.name = "new", .size = text_.size(), .id = id, .wishes = FileWishes{.resumable = true}};
  }
  void bring(Upload& upload, std::uint64_t from, std::uint64_t to) const {
    test::store(upload, text_, {from, to - from});
    upload.finish({from, to - from});
  }
  // Three ranges that follow one another; the one in the middle is lost.
  std::shared_ptr<Upload> with_a_range_in_the_middle(std::uint64_t id) {
    auto upload = storage().upload(request(id)).value();
    while (!upload->resume().complete) {
    }
    for (const ByteRange range : {ByteRange{0, kPart}, {kPart, kPart}, {2 * kPart, kPart}})
      EXPECT_TRUE(upload->has(range) || upload->take(range));
    bring(*upload, 0, kPart);
    bring(*upload, 2 * kPart, 3 * kPart);
    test::store(*upload, text_, {kPart, kPart});
    return upload;
  }
  // Whether it failed, which `end` must not tell.
  template <typename End>
  bool ends(std::uint64_t nth, End end) {
    const EngineThread marked;
    reset_counts();
    inject(std::array{Fault{.call = &memory(), .error = ENOMEM, .nth = nth}});
    end();
    stop_injecting();
    return memory().made() >= nth;
  }

  static constexpr std::uint64_t kPart = 1 << 20;
  const std::string text_ = std::string(3 * kPart, 't');
};

TEST_F(UploadWithoutMemory, ALostRangeIsOfferedAgainOrTheUploadIs) {
  std::uint64_t nth = 1;
  for (bool failed = true; failed; ++nth) {
    auto upload = with_a_range_in_the_middle(nth);
    failed = ends(nth, [&] { upload->give_back({kPart, kPart}); });
    if (!upload->over()) {
      ASSERT_TRUE(upload->take({kPart, kPart}));
      bring(*upload, kPart, 2 * kPart);
      ASSERT_TRUE(upload->seal(test::digest_of(text_)));
      ASSERT_TRUE(test::check(*upload));
      EXPECT_EQ(test::text_of(path("new")), text_);
      std::filesystem::remove(path("new"));
    }
    upload.reset();
    for (const auto& entry : std::filesystem::directory_iterator(path(".")))
      if (entry.path().filename().string().starts_with(".joust-")) std::filesystem::remove(entry.path());
  }
  EXPECT_GT(nth, 2U) << "a range in the middle takes memory to be noted as free";
}

TEST_F(UploadWithoutMemory, WhatStaysIsFoundByTheNext) {
  std::uint64_t nth = 1;
  for (bool failed = true; failed; ++nth) {
    auto upload = with_a_range_in_the_middle(nth);
    upload->give_back({kPart, kPart});
    failed = ends(nth, [&] { upload.reset(); });
    upload = storage().upload(request(1000 + nth)).value();
    Upload::Resumption resume;
    while (!(resume = upload->resume()).complete) {
    }
    if (const std::uint64_t there = resume.verified; there < text_.size()) {
      ASSERT_TRUE(upload->take({there, text_.size() - there}));
      bring(*upload, there, text_.size());
    }
    ASSERT_TRUE(upload->seal(test::digest_of(text_)));
    ASSERT_TRUE(test::check(*upload));
    EXPECT_EQ(test::text_of(path("new")), text_);
    std::filesystem::remove(path("new"));
  }
  EXPECT_GT(nth, 2U);
}

}  // namespace
}  // namespace joust::faults
