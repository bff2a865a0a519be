// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cli/hosts/layout.hpp"

namespace joust {
namespace {

using Ranks = std::vector<std::size_t>;

TEST(LayoutOfHosts, HasAsManyServersAsTheirFilesNeed) {
  const Layout four = usual_layout(4, true);
  EXPECT_EQ(four.servers, Ranks({1}));
  EXPECT_EQ(four.loads, Ranks({0, 2, 3}));
  EXPECT_EQ(with_servers_for(four, 17'000, 17'500).servers, Ranks({1}));
  EXPECT_EQ(with_servers_for(four, 24'000, 17'500).servers, Ranks({1, 1})) << "16,000 and 8,000";
  EXPECT_EQ(with_servers_for(four, 40'000, 17'500).servers, Ranks({1, 1, 1}));
  EXPECT_EQ(with_servers_for(four, 900'000, 17'500).servers, Ranks({1, 1, 1})) << "one for each load";
  EXPECT_EQ(with_servers_for(usual_layout(3, false), 900'000, 17'500).servers, Ranks());
}

}  // namespace
}  // namespace joust
