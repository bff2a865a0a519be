// SPDX-License-Identifier: MIT
//
// The descriptors that uploads have, and how many uploads a limit of them allows.
#include "files/store/descriptors.hpp"

#include <filesystem>
#include <vector>

#include "files/store/descriptor_limit.hpp"
#include "files/store/partial_fixture.hpp"

namespace joust {
namespace {

class Descriptors : public test::PartialUploadTest {
 protected:
  static std::uint64_t open_now() {
    const std::filesystem::directory_iterator all("/dev/fd");
    return static_cast<std::uint64_t>(std::distance(all, std::filesystem::directory_iterator{}));
  }
};

TEST_F(Descriptors, OfAnUploadAreNoMoreThanAreReckonedWith) {
  storage();
  const std::uint64_t before = open_now();
  UploadRequest all = request();
  all.wishes->resumable = false;
  {
    const auto whole = storage().upload(all).value();
    EXPECT_EQ(open_now(), before + descriptors::kOfWhole);
  }
  {
    const auto upload = begin();
    resume(*upload);
    EXPECT_EQ(open_now(), before + descriptors::kOfUpload - 1) << "there is no journal yet";
    upload_text(*upload, 0, 4 * kMiB);
    EXPECT_EQ(open_now(), before + descriptors::kOfUpload);
  }
  const auto resumed = begin();
  EXPECT_GT(resume(*resumed).verified, 0U);
  EXPECT_EQ(open_now(), before + descriptors::kOfUpload);
}

TEST_F(Descriptors, LeaveRoomForConnections) {
  {
    const test::DescriptorLimit tight(64);
    storage();
  }
  std::vector<std::shared_ptr<Upload>> held;
  for (const std::string_view name : {"1", "2", "3", "4"}) {
    UploadRequest request = this->request();
    request.name = name;
    held.push_back(storage().upload(request).value());
  }
  EXPECT_EQ(storage().upload(request()).error().text, "open uploads: 4 of at most 4");
}

}  // namespace
}  // namespace joust
