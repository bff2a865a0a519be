// SPDX-License-Identifier: MIT
#include "measure/network_interface.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

TEST(NetworkInterfaceTest, LoopbackIsFoundByItsAddress) {
  const auto loopback = interface_with("127.0.0.1");
  ASSERT_TRUE(loopback);
  EXPECT_TRUE(loopback->name.starts_with("lo"));
  EXPECT_FALSE(interface_with("240.0.0.1")) << "an address of nobody";
  EXPECT_FALSE(interface_with("no address"));
}

TEST(NetworkInterfaceTest, AFabricIsAnInterfaceOrASubnet) {
  const std::string loopback = interface_with("127.0.0.1")->name;
  EXPECT_EQ(address_in(loopback), "127.0.0.1");
  EXPECT_EQ(address_in("127.0.0.0/8"), "127.0.0.1");
  EXPECT_EQ(address_in("127.0.0.1"), "127.0.0.1");
  EXPECT_FALSE(address_in("127.0.0.128/25")) << "the last seven bits are of the host";
  for (const char* wrong : {"240.0.0.0/30", "127.0.0.0/33", "127.0.0.0/x", "nothing0", ""}) {
    const auto none = address_in(wrong);
    ASSERT_FALSE(none) << wrong;
    EXPECT_TRUE(none.error().contains("127.0.0.1 on " + loopback)) << none.error();
  }
}

TEST(NetworkInterfaceTest, TheWayToAnAddressIsKnown) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(address_towards("no address"), "");
  const auto round_trip = round_trip_to("127.0.0.1");
  ASSERT_TRUE(round_trip);
  EXPECT_GT(*round_trip, Duration{});
}

}  // namespace
}  // namespace joust
