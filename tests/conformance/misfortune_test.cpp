// SPDX-License-Identifier: MIT
//
// What goes wrong on this side for one connection costs that connection, is counted, and reaches nobody else.
#include <gtest/gtest.h>

#include "conformance/scripted.hpp"

namespace joust::conformance {
namespace {

class Misfortune : public EngineTest {};
JOUST_EVERY_ENGINE(Misfortune, Role::serve);

constexpr unsigned kTimes = 3;

void expect_served(Peer& peer) {
  peer.send("e");
  EXPECT_EQ(peer.receive(1), "e");
}

TEST_P(Misfortune, OfASessionThatThrowsIsItsOwn) {
  checks(Duty::misfortune);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer bystander = service.join(server);
  for (unsigned i = 0; i < kTimes; ++i) {
    Peer unlucky = service.join(server);
    unlucky.send("t");
    EXPECT_NE(unlucky.next(), Next::data);
    expect_served(bystander);
  }
  Peer late = service.join(server);
  EXPECT_EQ(server.tally().failures(Stage::local), kTimes);
  EXPECT_EQ(server.tally().failures(), kTimes);
}

TEST_P(Misfortune, OfAPeerForWhomThereIsNoSessionIsItsOwn) {
  checks(Duty::misfortune);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer bystander = service.join(server);
  for (unsigned i = 0; i < kTimes; ++i) {
    service.refuse_next();
    Peer unlucky(server.endpoint());
    EXPECT_NE(unlucky.next(), Next::data);
    expect_served(bystander);
  }
  Peer late = service.join(server);
  EXPECT_EQ(server.tally().failures(Stage::local), kTimes);
}

}  // namespace
}  // namespace joust::conformance
