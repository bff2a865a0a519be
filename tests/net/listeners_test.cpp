// SPDX-License-Identifier: MIT
#include "net/listener.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/check.hpp"
#include "net/endpoints.hpp"

namespace joust {
namespace {

using test::parsed;

bool has_ipv6() {
  try {
    const Listener listener(parsed("[::1]:0"), {});
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// An address of the documentation's range, which no machine has.
const Endpoint kElsewhere = parsed("192.0.2.1:0");

int error_of_listening(std::span<const Endpoint> endpoints) {
  try {
    const Listeners listeners(endpoints, {});
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

TEST(ListenersTest, HaveOnePortOnAllAddresses) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
  const Listeners listeners(std::array{parsed("127.0.0.1:0"), parsed("[::1]:0"), parsed("127.0.0.2:0")}, {});
  ASSERT_EQ(listeners.all().size(), 3U);
  const std::uint16_t port = port_of(listeners.all()[0]->endpoint());
  EXPECT_NE(port, 0);
  const std::string text = std::to_string(port);
  const std::vector<std::string> expected{"127.0.0.1:" + text, "[::1]:" + text, "127.0.0.2:" + text};
  EXPECT_EQ(listeners.addresses(), expected);
  for (const Listener* listener : listeners.all()) {
    const Endpoint& to = listener->endpoint();
    const Fd peer(checked(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
    EXPECT_EQ(::connect(peer.get(), to.raw(), to.size), 0);
    EXPECT_EQ(listener->accept(0).outcome, AcceptOutcome::accepted);
  }
}

TEST(ListenersTest, DoWithoutAnAddressThatTheMachineLacks) {
  for (const auto& endpoints :
       {std::array{kElsewhere, parsed("127.0.0.1:0")}, std::array{parsed("127.0.0.1:0"), kElsewhere}}) {
    const Listeners listeners(endpoints, {});
    ASSERT_EQ(listeners.all().size(), 1U);
    EXPECT_TRUE(listeners.addresses().front().starts_with("127.0.0.1:"));
    ASSERT_EQ(listeners.left_out().size(), 1U);
    EXPECT_TRUE(listeners.left_out().front().starts_with("192.0.2.1:"));
    EXPECT_TRUE(listeners.left_out().front().ends_with(": Cannot assign requested address"));
  }
}

TEST(ListenersTest, NeedOneAddress) {
  EXPECT_EQ(error_of_listening(std::array{kElsewhere, kElsewhere}), EADDRNOTAVAIL);
}

TEST(ListenersTest, DoNotDoWithoutAnAddressThatIsInUse) {
  const Listener first(parsed("127.0.0.2:0"), {});
  const std::uint16_t port = port_of(first.endpoint());
  const std::array endpoints{with_port(parsed("127.0.0.1:0"), port), with_port(parsed("127.0.0.2:0"), port)};
  EXPECT_EQ(error_of_listening(endpoints), EADDRINUSE);
}

// Twice the same address: every port that the kernel chooses for the first is in use for the second.
TEST(ListenersTest, GiveUpAfterSomePortsThatAreInUse) {
  EXPECT_EQ(error_of_listening(std::array{parsed("127.0.0.1:0"), parsed("127.0.0.1:0")}), EADDRINUSE);
}

// Of the ports that the kernel may choose one in fourteen is in use on the second address, so that the first
// choice is wrong several times in a hundred.
TEST(ListenersTest, TakeAnotherPortWhereOneIsInUse) {
  const Endpoint second = parsed("127.0.0.2:0");
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit()");
  limit.rlim_cur = limit.rlim_max;
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit()");
  if (limit.rlim_max < 2'100) GTEST_SKIP() << "too few descriptors";
  std::vector<Fd> in_use;
  for (int i = 0; i < 2'000; ++i) {
    in_use.emplace_back(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
    checked(::bind(in_use.back().get(), second.raw(), second.size), "bind()");
  }
  for (int i = 0; i < 100; ++i) {
    const Listeners listeners(std::array{parsed("127.0.0.1:0"), second}, {});
    ASSERT_EQ(listeners.all().size(), 2U);
    EXPECT_EQ(port_of(listeners.all()[0]->endpoint()), port_of(listeners.all()[1]->endpoint()));
  }
}

}  // namespace
}  // namespace joust
