// SPDX-License-Identifier: MIT
//
// A kernel that refuses submissions for a while, or for good. The function here takes the place of
// liburing's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "engines/io_uring/kernel.hpp"
#include "engines/io_uring/ring.hpp"

namespace {

int refusals = 0;
int refusal = 0;

}  // namespace

extern "C" int io_uring_submit(io_uring* ring) {
  if (refusals > 0) {
    --refusals;
    return refusal;
  }
  static const auto real = reinterpret_cast<int (*)(io_uring*)>(::dlsym(RTLD_NEXT, "io_uring_submit"));
  return real(ring);
}

namespace joust::test {
namespace {

class UringRefusals : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = uring_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  void TearDown() override { refusals = 0; }
};

TEST_F(UringRefusals, ThatPassAreWaitedFor) {
  for (const int error : {-EBUSY, -EAGAIN, -EINTR}) {
    Uring ring({.submissions = 2, .completions = 64, .buffers = 1, .buffer_bytes = 64, .filled_buffers = 0});
    constexpr std::uint64_t kOperations = 20;
    refusal = error;
    for (std::uint64_t tag = 0; tag < kOperations; ++tag) {
      refusals = 3;
      io_uring_prep_nop(ring.prepare(tag));
    }
    refusals = 0;
    std::vector<std::uint64_t> done;
    while (ring.in_flight() > 0) {
      ring.submit_and_wait(std::chrono::seconds(10));
      ring.take_completions([&](const io_uring_cqe& cqe) { done.push_back(cqe.user_data); });
    }
    ASSERT_EQ(done.size(), kOperations);
    for (std::uint64_t tag = 0; tag < kOperations; ++tag) EXPECT_EQ(done[tag], tag) << "out of order";
  }
}

TEST_F(UringRefusals, ThatLastEndARunOnly) {
  Uring ring({.submissions = 1, .completions = 4, .buffers = 1, .buffer_bytes = 64, .filled_buffers = 0});
  refusal = -ENOMEM;
  refusals = 1000;
  io_uring_prep_nop(ring.prepare(0));
  EXPECT_THROW(ring.prepare(1), std::system_error);
  EXPECT_NO_THROW(ring.abandon([](const io_uring_cqe&) {})) << "a destructor calls this";
}

}  // namespace
}  // namespace joust::test
