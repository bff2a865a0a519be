// SPDX-License-Identifier: MIT
#include "net/address.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace joust {
namespace {

TEST(AddressTest, ReadsWhatItWrites) {
  for (const std::string text : {"127.0.0.1:9000", "10.1.2.3:0", "127.0.0.1:65535", "[::1]:9000",
                                 "[fe80::1]:1", "unix:/tmp/joust.sock", "unix:relative.sock"}) {
    const auto endpoints = resolve(text);
    ASSERT_TRUE(endpoints.has_value()) << endpoints.error().detail;
    ASSERT_EQ(endpoints->size(), 1U) << text;
    EXPECT_EQ(to_text(endpoints->front()), text);
  }
}

TEST(AddressTest, WithoutAHostIsThisMachine) {
  const auto endpoints = resolve(":9000");
  ASSERT_TRUE(endpoints.has_value());
  EXPECT_EQ(to_text(endpoints->front()), "127.0.0.1:9000");
}

TEST(AddressTest, AnAsteriskIsEveryAddress) {
  EXPECT_FALSE(holds_name("*:9000")) << "nobody is asked for it";
  EXPECT_TRUE(means_every_address("*:9000"));
  EXPECT_FALSE(means_every_address("unix:*"));
  const auto endpoints = resolve("*:9000");
  ASSERT_TRUE(endpoints.has_value());
  ASSERT_FALSE(endpoints->empty());
  EXPECT_EQ(to_text(endpoints->front()), "0.0.0.0:9000");
  for (const Endpoint& endpoint : *endpoints) EXPECT_TRUE(is_wildcard(endpoint)) << to_text(endpoint);
  EXPECT_LE(endpoints->size(), 2U);
}

TEST(AddressTest, NamesAreLookedUp) {
  const auto endpoints = resolve("localhost:9000");
  ASSERT_TRUE(endpoints.has_value()) << endpoints.error().detail;
  ASSERT_FALSE(endpoints->empty());
  for (const Endpoint& endpoint : *endpoints) {
    EXPECT_TRUE(is_local(endpoint)) << to_text(endpoint);
    EXPECT_TRUE(to_text(endpoint).ends_with(":9000"));
  }
}

TEST(AddressTest, LongestUnixPathIsAllowedAndOneMoreIsNot) {
  const std::string longest = "unix:/" + std::string(106, 'x');
  ASSERT_TRUE(resolve(longest).has_value());
  EXPECT_EQ(to_text(resolve(longest)->front()), longest);
  EXPECT_FALSE(resolve(longest + "x").has_value());
}

struct Bad {
  std::string text;
  std::string complaint;  // what a person reads, in part
};

class BadAddress : public testing::TestWithParam<Bad> {};

TEST_P(BadAddress, IsRefusedInWords) {
  const auto endpoints = resolve(GetParam().text);
  ASSERT_FALSE(endpoints.has_value());
  EXPECT_EQ(endpoints.error().stage, Stage::resolve);
  const std::string& detail = endpoints.error().detail;
  EXPECT_NE(detail.find(GetParam().complaint), std::string::npos) << detail;
  EXPECT_NE(detail.find("'" + GetParam().text + "'"), std::string::npos) << detail;
}

INSTANTIATE_TEST_SUITE_P(Texts, BadAddress,
                         testing::Values(Bad{"", "the port is missing"},                                  //
                                         Bad{"127.0.0.1", "the port is missing"},                         //
                                         Bad{"127.0.0.1:", "the port is missing"},                        //
                                         Bad{"127.0.0.1:http", "not a number from 0 to 65535"},           //
                                         Bad{"127.0.0.1:65536", "not a number from 0 to 65535"},          //
                                         Bad{"127.0.0.1:-1", "not a number from 0 to 65535"},             //
                                         Bad{"127.0.0.1:80x", "not a number from 0 to 65535"},            //
                                         Bad{"127.0.0.1: 80", "not a number from 0 to 65535"},            //
                                         Bad{"127.0.0.1:99999999999", "not a number from 0"},             //
                                         Bad{"::1:9000", "stands in brackets"},                           //
                                         Bad{"[::1:9000", "stands in brackets"},                          //
                                         Bad{"::", "stands in brackets"},                                 //
                                         Bad{":", "the port is missing"},                                 //
                                         Bad{"[::1]x:9000", "stands in brackets"},                        //
                                         Bad{"[::1]", "the port is missing (write it like [::1]:9000)"},  //
                                         Bad{"[zz]:9000", "no IPv6 address in the brackets"},             //
                                         Bad{"[127.0.0.1]:9000", "no IPv6 address in"},                   //
                                         Bad{"300.0.0.1:9000", "no IPv4 address"},                        //
                                         Bad{"127.0.0.1.5:9000", "no IPv4 address"},                      //
                                         Bad{"a host:9000", "a blank or a slash"},                        //
                                         Bad{"http://127.0.0.1:9000", "this is a URL"},                   //
                                         Bad{"unix:", "the path is missing"},                             //
                                         Bad{"unix:/" + std::string(107, 'x'), "at most 107 bytes"},      //
                                         Bad{"no-such-host.invalid:80", ""}),
                         [](const auto& tested) { return "Number" + std::to_string(tested.index); });

TEST(AddressTest, HasAPortThatCanBeChanged) {
  for (const std::string host : {"127.0.0.1:", "[::1]:"}) {
    const Endpoint endpoint = resolve(host + "9000")->front();
    EXPECT_EQ(port_of(endpoint), 9000);
    EXPECT_EQ(to_text(with_port(endpoint, 65'000)), host + "65000");
    EXPECT_EQ(with_port(with_port(endpoint, 1), 9000), endpoint);
    EXPECT_FALSE(with_port(endpoint, 1) == endpoint);
  }
  const Endpoint unix_socket = resolve("unix:/tmp/x")->front();
  EXPECT_EQ(port_of(unix_socket), 0);
  EXPECT_EQ(with_port(unix_socket, 1), unix_socket);
}

TEST(AddressTest, KnowsWhatIsLocal) {
  for (const std::string text : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:/tmp/x"})
    EXPECT_TRUE(is_local(resolve(text)->front())) << text;
  for (const std::string text : {"10.0.0.1:1", "128.0.0.1:1", "0.0.0.0:1", "[::]:1", "[fe80::1]:1"})
    EXPECT_FALSE(is_local(resolve(text)->front())) << text;
}

TEST(AddressTest, KnowsWhatStandsForEveryAddress) {
  for (const std::string text : {"0.0.0.0:1", "[::]:1", "[::ffff:0.0.0.0]:1"})
    EXPECT_TRUE(is_wildcard(resolve(text)->front())) << text;
  for (const std::string text :
       {"127.0.0.1:1", "0.0.0.1:1", "[::1]:1", "[fe80::]:1", "[::ffff:1.0.0.0]:1", "unix:/tmp/x"})
    EXPECT_FALSE(is_wildcard(resolve(text)->front())) << text;
}

PeerAddress peer(std::string_view text) {
  return peer_address(resolve(text).value().front());
}

TEST(PeerAddressTest, IsTheSameForEveryPort) {
  EXPECT_EQ(peer("10.1.2.3:1"), peer("10.1.2.3:2"));
  EXPECT_NE(peer("10.1.2.3:1"), peer("10.1.2.4:1"));
  EXPECT_NE(peer("0.0.0.0:1"), PeerAddress::unknown);
}

TEST(PeerAddressTest, IsThatOfTheNetworkForIpv6) {
  EXPECT_EQ(peer("[2001:db8::1]:1"), peer("[2001:db8::ffff:2]:1"));
  EXPECT_NE(peer("[2001:db8::1]:1"), peer("[2001:db8:0:1::1]:1"));
  EXPECT_EQ(peer("[::ffff:10.1.2.3]:1"), peer("10.1.2.3:1"));
}

TEST(PeerAddressTest, IsUnknownForUnixSocketsAndWhatIsNoSocket) {
  EXPECT_EQ(peer("unix:/tmp/joust.sock"), PeerAddress::unknown);
  EXPECT_EQ(peer_of(-1), PeerAddress::unknown);
}

}  // namespace
}  // namespace joust
