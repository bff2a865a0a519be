// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <system_error>

#include "net/listener.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

Endpoint loopback() {
  return resolve("127.0.0.1:0").value().front();
}

TEST(DatagramSocketTest, BindsWithoutAQueueOfPeers) {
  const Listener listener(loopback(), {}, Transport::datagram);
  EXPECT_NE(port_of(listener.endpoint()), 0);
  EXPECT_TRUE(listener.address().starts_with("127.0.0.1:"));
  EXPECT_FALSE(listener.facts().backlog);
  EXPECT_FALSE(listener.facts().nodelay);
}

TEST(DatagramSocketTest, HasAsMuchReceiveBufferAsItMayUnlessToldOtherwise) {
  const Listener largest(loopback(), {}, Transport::datagram);
  const Listener told(loopback(), {.receive_buffer = 8'192}, Transport::datagram);
  const Listener stream(loopback(), {});
  EXPECT_GE(largest.facts().receive_buffer.value(), stream.facts().receive_buffer.value());
  EXPECT_EQ(told.facts().receive_buffer, 16'384);  // the kernel doubles it
}

TEST(DatagramSocketTest, AnAddressIsSharedOnlyOnPurpose) {
  const Listener listener(loopback(), {}, Transport::datagram);
  EXPECT_THROW(Listener(listener.endpoint(), {}, Transport::datagram), std::system_error);
  const Fd one = listener.sibling(), another = listener.sibling();
  EXPECT_TRUE(one.is_open() && another.is_open());
  EXPECT_THROW(Listener(listener.endpoint(), {}, Transport::datagram), std::system_error);
}

TEST(DatagramSocketTest, DropsOfTheKernelAreCounted) {
  const Listener small(loopback(), {.receive_buffer = 2'048}, Transport::datagram);
  const Target target("t", {small.endpoint()}, {}, Transport::datagram);
  const Fd socket = target.make_socket(0, 0);
  ASSERT_EQ(::connect(socket.get(), small.endpoint().raw(), small.endpoint().size), 0);
  EXPECT_EQ(dropped_datagrams(small.fd()), 0U);
  const std::array<char, 1'000> bytes{};
  for (int i = 0; i < 100; ++i) ::send(socket.get(), bytes.data(), bytes.size(), 0);
  EXPECT_GT(dropped_datagrams(small.fd()), 0U);
  EXPECT_LT(dropped_datagrams(small.fd()), 100U);
}

}  // namespace
}  // namespace joust
