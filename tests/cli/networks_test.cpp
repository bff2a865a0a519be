// SPDX-License-Identifier: MIT
#include "cli/hosts/networks.hpp"

#include <gtest/gtest.h>

#include <array>

namespace joust {
namespace {

const std::array<OwnNetwork, 3> kOwn{{{.interface = "eth0", .subnet = "10.1.0.0/16"},
                                      {.interface = "eth1", .subnet = "192.168.7.0/24"},
                                      {.interface = "docker0", .subnet = "172.17.0.0/16"}}};

std::optional<std::string> common(std::vector<std::string> others) {
  return common_subnet(kOwn, others);
}

TEST(CommonSubnet, HasAllOtherHosts) {
  EXPECT_EQ(common({"10.1.2.3", "10.1.200.4"}), "10.1.0.0/16");
  EXPECT_EQ(common({"192.168.7.9"}), "192.168.7.0/24");
}

TEST(CommonSubnet, IsUnknownWhereItIsNotCertain) {
  EXPECT_EQ(common({"10.1.2.3", "192.168.7.9"}), std::nullopt);  // in two networks
  EXPECT_EQ(common({"10.1.2.3", "10.2.0.1"}), std::nullopt);     // behind a router
  EXPECT_EQ(common({"10.1.2.3", ""}), std::nullopt);             // a name of ssh's own
  EXPECT_EQ(common({}), std::nullopt);
}

TEST(CommonSubnet, IsUnknownWhereTwoHoldIt) {
  const std::array<OwnNetwork, 2> both{
      {{.interface = "eth0", .subnet = "10.0.0.0/8"}, {.interface = "eth1", .subnet = "10.1.0.0/16"}}};
  const std::vector<std::string> others{"10.1.2.3"};
  EXPECT_EQ(common_subnet(both, others), std::nullopt);
}

}  // namespace
}  // namespace joust
