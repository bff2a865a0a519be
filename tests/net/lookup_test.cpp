// SPDX-License-Identifier: MIT
#include "net/address.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <semaphore>
#include <thread>

#include "connection/tally.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kGenerous = seconds(60);

// Answers when it is released, as a name server that is down.
class Hanging {
 public:
  ~Hanging() { release_->release(1000); }
  Resolver resolver() {
    return [release = release_](std::string_view text) {
      release->acquire();
      return resolve(text);
    };
  }

 private:
  std::shared_ptr<std::counting_semaphore<>> release_ = std::make_shared<std::counting_semaphore<>>(0);
};

TEST(Lookup, FindsWhatResolveFinds) {
  for (const char* address : {"localhost:80", "127.0.0.1:80", "[::1]:80", ":80", "unix:/tmp/x"}) {
    const auto endpoints = resolve_within(kGenerous, address);
    ASSERT_TRUE(endpoints.has_value()) << address;
    EXPECT_EQ(*endpoints, *resolve(address)) << address;
  }
}

TEST(Lookup, SaysWhatIsWrong) {
  const auto endpoints = resolve_within(kGenerous, "no-such-host.invalid:80");
  ASSERT_FALSE(endpoints.has_value());
  EXPECT_EQ(endpoints.error().stage, Stage::resolve);
  EXPECT_EQ(endpoints.error().detail, resolve("no-such-host.invalid:80").error().detail);
}

TEST(Lookup, GivesUpANameServerThatDoesNotAnswer) {
  Hanging hanging;
  const Time begin = Clock::now();
  const auto endpoints = resolve_within(milliseconds(30), "some.host:80", hanging.resolver());
  EXPECT_GE(Clock::now() - begin, milliseconds(30));
  ASSERT_FALSE(endpoints.has_value());
  EXPECT_EQ(endpoints.error().stage, Stage::resolve);
  EXPECT_EQ(endpoints.error().error, ETIMEDOUT);
  EXPECT_EQ(describe(endpoints.error()),
            "resolve 'some.host:80': no answer in 30.0 ms: Connection timed out");
}

// So an address without a name is never late, and works where there can be no thread.
TEST(Lookup, NeedsNoThreadWithoutAName) {
  const auto here = std::this_thread::get_id();
  for (const char* address : {"127.0.0.1:80", "[::1]:80", ":80", "unix:/tmp/x", "no port", "1.2.3:x"}) {
    std::thread::id asked;
    resolve_within(kGenerous, address, [&](std::string_view text) {
      asked = std::this_thread::get_id();
      return resolve(text);
    });
    EXPECT_EQ(asked, here) << address;
  }
}

TEST(Lookup, CountsAShortageOfMemory) {
  const auto endpoints = resolve_within(
      kGenerous, "some.host:80",
      [](std::string_view) -> std::expected<std::vector<Endpoint>, Failure> { throw std::bad_alloc(); });
  ASSERT_FALSE(endpoints.has_value());
  EXPECT_EQ(endpoints.error().error, ENOMEM);
}

TEST(LookupDeathTest, AnAbandonedThreadDoesNotKeepTheProcessFromEnding) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto abandon = [] {
    const auto never = [](std::string_view text) {
      std::this_thread::sleep_for(std::chrono::hours(1));
      return resolve(text);
    };
    std::exit(resolve_within(milliseconds(10), "some.host:80", never).has_value() ? 1 : 0);
  };
  EXPECT_EXIT(abandon(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace joust
