// SPDX-License-Identifier: MIT
#include "hosts/relay/connections.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/fd.hpp"

namespace joust::hosts {
namespace {

using std::chrono::milliseconds;

constexpr Duration kLong = std::chrono::seconds(60), kMuch = std::chrono::seconds(10);

sockaddr* plain(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

// A listening socket, and those that connect to it, all of this process, as MPI's are of a relay.
class Sockets : public testing::Test {
 protected:
  Sockets() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listening_.get(), plain(address_), sizeof address_), 0);
    socklen_t length = sizeof address_;
    EXPECT_EQ(::getsockname(listening_.get(), plain(address_), &length), 0);
    EXPECT_EQ(::listen(listening_.get(), 1), 0);
  }

  static Fd made() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

  Fd connecting() {
    Fd one = made();
    const bool begun = ::connect(one.get(), plain(address_), sizeof address_) == 0 || errno == EINPROGRESS;
    EXPECT_TRUE(begun);
    return one;
  }

  Fd accepted() { return Fd(::accept(listening_.get(), nullptr, nullptr)); }

  // As a relay does before it may sleep. Returns how long it has taken.
  Duration settle() {
    const Time begin = Clock::now();
    do {
      connections_.refresh();
      connections_.wait({}, milliseconds(1));
    } while (!connections_.are_settled() && Clock::now() < begin + kMuch);
    EXPECT_TRUE(connections_.are_settled());
    return Clock::now() - begin;
  }

  Fd listening_ = made();
  sockaddr_in address_{};
  Connections connections_{};
};

// MPI goes on with a connection by its own clock, for which nothing wakes a relay that sleeps.
TEST_F(Sockets, ThatAreNewKeepARelayAwakeForAWhile) {
  settle();
  const Fd one = connecting(), other = accepted();
  connections_.refresh();
  EXPECT_FALSE(connections_.are_settled());
  EXPECT_GE(settle(), milliseconds(50));
  connections_.refresh();
  EXPECT_TRUE(connections_.are_settled());
}

TEST_F(Sockets, ThatHaveTheDescriptorOfAnotherAreNewToo) {
  Fd one = connecting(), other = accepted();
  settle();
  const int number = one.get();
  one = Fd();
  other = Fd();
  one = connecting();
  ASSERT_EQ(one.get(), number);
  connections_.refresh();
  EXPECT_FALSE(connections_.are_settled());
}

// A full queue keeps the second one waiting, as a long way does.
TEST_F(Sockets, ThatAreConnectedAtLastAreNewOnceMore) {
  ASSERT_EQ(::listen(listening_.get(), 0), 0);
  const Fd first = connecting(), second = connecting();
  settle();
  const Fd taken = accepted();
  pollfd writable{second.get(), POLLOUT, 0};
  ASSERT_EQ(::poll(&writable, 1, 60'000), 1);
  connections_.refresh();
  EXPECT_FALSE(connections_.are_settled());
}

TEST_F(Sockets, ListenNoMoreOnceAllAreConnected) {
  const Fd one = connecting(), other = accepted();
  settle();
  connections_.stop_listening();
  const Fd late = made();
  ASSERT_EQ(::fcntl(late.get(), F_SETFL, 0), 0);  // it waits for the answer
  EXPECT_EQ(::connect(late.get(), plain(address_), sizeof address_), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  EXPECT_GE(::fcntl(listening_.get(), F_GETFD), 0) << "its number stays taken";
  ASSERT_EQ(::send(one.get(), "x", 1, 0), 1);  // the connection goes on
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, 0), 1);
  connections_.refresh();
  EXPECT_FALSE(connections_.wait({}, milliseconds(1)));
}

TEST_F(Sockets, WhoseOtherSideHasEndedAreTold) {
  const Fd one = connecting();
  Fd other = accepted();
  settle();
  other = Fd();
  EXPECT_TRUE(connections_.wait({}, kLong));
  EXPECT_TRUE(connections_.refresh());
}

}  // namespace
}  // namespace joust::hosts
