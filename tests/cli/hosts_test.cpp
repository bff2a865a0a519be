// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/fd.hpp"
#include "cli/hosts/layout.hpp"
#include "cli/hosts/networks.hpp"
#include "cli/hosts/processes.hpp"

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

// While it exists this process can open no descriptor, so that it can start no process.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(HostedProcesses, GoOnWhereOneCannotBeStarted) {
  const Stop stop;
  HostedProcesses processes("1", stop);
  const hosts::Handlers handlers = processes.handlers();
  const nlohmann::json request{{"do", "start"},
                               {"id", "load0"},
                               {"words", {"engines"}},
                               {"until", "connected"},
                               {"patience_ms", 1000}};
  {
    const NoDescriptors none;
    EXPECT_TRUE(hosts::answer(request, handlers).contains("failed"));
  }
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Fd socket(pair[0]);
  ::close(pair[1]);  // readable at once
  processes.collect_until_readable(socket.get());
  const nlohmann::json stopping{{"do", "stop"}, {"id", "load0"}, {"patience_ms", 1000}};
  EXPECT_EQ(hosts::answer(stopping, handlers).at("failed"), "no such process was started");
}

}  // namespace
}  // namespace joust
