// SPDX-License-Identifier: MIT
#include "base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace joust {
namespace {

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

Fd open_null() {
  return Fd(checked(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open(/dev/null)"));
}

static_assert(!std::is_copy_constructible_v<Fd>);
static_assert(!std::is_convertible_v<Fd, bool> && !std::is_constructible_v<bool, Fd>);

TEST(FdTest, ClosesWhenItGoes) {
  int number = -1;
  {
    const Fd fd = open_null();
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FdTest, MovingPassesTheDutyOn) {
  Fd first = open_null();
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_TRUE(is_open(number));
  Fd third = open_null();
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_EQ(third.get(), number);
  EXPECT_TRUE(is_open(number));
}

TEST(FdTest, ReleasedIsTheCallersToClose) {
  Fd fd = open_null();
  const int number = fd.release();
  EXPECT_FALSE(fd.is_open());
  fd.close();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(FdTest, EmptyOneClosesNothing) {
  Fd fd;
  EXPECT_FALSE(fd.is_open());
  fd.close();
  fd.close();
}

TEST(CheckedTest, PassesOnWhatSucceeded) {
  EXPECT_EQ(checked(0, "call()"), 0);
  EXPECT_EQ(checked(7L, "call()"), 7L);
}

TEST(CheckedTest, NamesTheCallAndItsArguments) {
  try {
    errno = EACCES;
    checked(-1, "bind({}, {})", "127.0.0.1:80", 3);
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EACCES);
    EXPECT_EQ(std::string(error.what()), "bind(127.0.0.1:80, 3): Permission denied");
  }
}

TEST(CheckedTest, TakesErrorNumbersToo) {
  EXPECT_NO_THROW(checked_number(0, "call()"));
  try {
    checked_number(EAGAIN, "pthread_create({})", 5);
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EAGAIN);
    EXPECT_TRUE(std::string(error.what()).starts_with("pthread_create(5): "));
  }
}

TEST(RetryInterruptedTest, RepeatsForSignalsOnly) {
  int calls = 0;
  const int result = retry_interrupted([&] {
    errno = ++calls < 3 ? EINTR : EIO;
    return -1;
  });
  EXPECT_EQ(result, -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace joust
