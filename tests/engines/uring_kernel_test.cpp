// SPDX-License-Identifier: MIT
#include "engines/io_uring/kernel.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace joust {
namespace {

TEST(IoUringRefusal, OfAnOldKernelNamesTheVersions) {
  EXPECT_EQ(uring_refusal(EINVAL, "5.10.0-28-amd64", 0),
            " (this is Linux 5.10.0-28-amd64; needed is 5.19 or newer)");
  EXPECT_EQ(uring_refusal(ENOSYS, "4.19.0", 0), " (this is Linux 4.19.0; needed is 5.19 or newer)");
  EXPECT_EQ(uring_refusal(EINVAL, "5.19.0", 0), "");
  EXPECT_EQ(uring_refusal(EINVAL, "6.1", 0), "");
}

TEST(IoUringRefusal, OfAContainerNamesSeccomp) {
  EXPECT_EQ(uring_refusal(EPERM, "6.1.0", 0),
            " (Linux 6.1.0 has io_uring; a seccomp profile may forbid it, as containers' often do)");
}

TEST(IoUringRefusal, ByTheSysctlNamesIt) {
  EXPECT_EQ(uring_refusal(EPERM, "6.6.0", 2), " (sysctl kernel.io_uring_disabled is 2)");
}

TEST(IoUringRefusal, ForAnotherReasonNamesNoLimit) {
  EXPECT_EQ(refused_call("io_uring_setup()", EPERM, {1024, 4096}), "io_uring_setup()");
}

TEST(IoUringRefusal, OfNoKnownCauseAddsNothing) {
  EXPECT_EQ(uring_refusal(ENOMEM, "6.6.0", 0), "");
  EXPECT_EQ(uring_refusal(EINVAL, "none", 0), "");
}

TEST(OlderKernel, IsNamedWithWhatItLacks) {
  EXPECT_EQ(older_than({1, 0}, "it lacks it"), "");
  const std::string reason = older_than({999, 1}, "it lacks it");
  EXPECT_TRUE(reason.starts_with("this is Linux ")) << reason;
  EXPECT_TRUE(reason.ends_with("; needed is 999.1 or newer: it lacks it")) << reason;
}

}  // namespace
}  // namespace joust
