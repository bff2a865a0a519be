// SPDX-License-Identifier: MIT
#include "measure/affinity.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <system_error>
#include <thread>

namespace joust {
namespace {

using Cpus = std::vector<int>;
const Cpus kFour = {0, 1, 2, 5};

TEST(ParseCpus, ReadsNumbersAndRanges) {
  EXPECT_EQ(parse_cpus("0", kFour), Cpus({0}));
  EXPECT_EQ(parse_cpus("0-2", kFour), Cpus({0, 1, 2}));
  EXPECT_EQ(parse_cpus("5,0-1", kFour), Cpus({0, 1, 5}));
  EXPECT_EQ(parse_cpus("1,1,0-1", kFour), Cpus({0, 1}));
}

TEST(ParseCpus, SaysWhatIsWrongAndWhichCpusThereAre) {
  EXPECT_EQ(parse_cpus("7", kFour).error(), "there is no CPU 7 to run on; there are: 0-2,5");
  EXPECT_EQ(parse_cpus("1-1000000000", kFour).error(), "there is no CPU 3 to run on; there are: 0-2,5");
  EXPECT_EQ(parse_cpus("one", kFour).error(),
            "'one' is not a list of CPUs (write it like 0 or 0-1,3; there are: 0-2,5)");
}

TEST(ParseCpus, RefusesWhatIsNotAList) {
  for (const char* text : {"", ",", "0,", "-1", "1-", "2-1", "0-1-2", "0 1", "0x1", "99999999999"})
    EXPECT_FALSE(parse_cpus(text, kFour)) << "'" << text << "'";
}

TEST(FormatCpus, IsWhatParseReads) {
  EXPECT_EQ(format_cpus(kFour), "0-2,5");
  EXPECT_EQ(format_cpus(Cpus{3}), "3");
  EXPECT_EQ(format_cpus({}), "");
  EXPECT_EQ(parse_cpus(format_cpus(kFour), kFour), kFour);
}

TEST(PinTo, KeepsAThreadWhereItWasPut) {
  const Cpus before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::jthread([&] {
    pin_to(std::span(&before.back(), 1));
    EXPECT_EQ(allowed_cpus(), Cpus({before.back()}));
    EXPECT_EQ(::sched_getcpu(), before.back());
    std::jthread([&] { EXPECT_EQ(allowed_cpus(), Cpus({before.back()})); });
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(PinTo, ThrowsForACpuThatIsNot) {
  const int absent[] = {1023};
  if (parse_cpus("1023", allowed_cpus())) GTEST_SKIP() << "this machine has a CPU 1023";
  EXPECT_THROW(pin_to(absent), std::system_error);
}

}  // namespace
}  // namespace joust
