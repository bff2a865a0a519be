// SPDX-License-Identifier: MIT
#include "net/address.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <vector>

#include "net/listener.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

constexpr LocalPorts kFour{.first = 40000, .last = 40003};  // three of them are used, one is left to others

Endpoint endpoint(const std::string& text) {
  return resolve(text).value().front();
}

TEST(LocalPortsTest, AreThoseOfThisMachine) {
  EXPECT_GE(local_ports().count(), 1U);
  EXPECT_LE(local_ports().last, 65535U);
}

TEST(LocalPortsTest, OneSourceIsEnoughWhereThePortsAre) {
  EXPECT_EQ(sources_for(endpoint("127.0.0.1:9"), 3, kFour), 1U);
  EXPECT_EQ(sources_for(endpoint("[::1]:9"), 4, kFour), 1U);
  EXPECT_EQ(sources_for(endpoint("unix:/s"), 1'000'000, kFour), 1U) << "has no ports";
}

TEST(LocalPortsTest, LoopbackHasAsManySourcesAsAreNeeded) {
  EXPECT_EQ(sources_for(endpoint("127.0.0.1:9"), 4, kFour), 2U);
  EXPECT_EQ(sources_for(endpoint("127.3.2.1:9"), 10, kFour), 4U);
}

TEST(LocalPortsTest, ElsewhereTooManyAreRefusedWithTheNumbersAndAWayOut) {
  for (const char* address : {"[::1]:9", "10.0.0.1:9"}) {
    const auto refused = sources_for(endpoint(address), 5, kFour);
    ASSERT_FALSE(refused) << address;
    for (const char* part : {address, "5 connections", "gives out 4", "40000 40003", "127.0.0.1"})
      EXPECT_NE(refused.error().find(part), std::string::npos) << part << ": " << refused.error();
  }
}

TEST(LocalPortsTest, ConnectionsComeFromTheSourcesInTurn) {
  const Listener listener(endpoint("127.0.0.1:0"), {});
  Target target("t", resolve(listener.address()).value(), {});
  target.spread_over(3);
  std::vector<Fd> sockets;
  std::map<std::string, int> seen;
  for (int i = 0; i < 9; ++i) {
    sockets.push_back(target.make_socket(0, 0));
    const Fd& socket = sockets.back();
    ASSERT_EQ(::connect(socket.get(), target.endpoint(0).raw(), target.endpoint(0).size), 0);
    Endpoint mine;
    mine.size = sizeof mine.storage;
    ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&mine.storage), &mine.size), 0);
    const std::string text = to_text(mine);
    ++seen[text.substr(0, text.find(':'))];
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{{"127.0.0.2", 3}, {"127.0.0.3", 3}, {"127.0.0.4", 3}}));
}

}  // namespace
}  // namespace joust
