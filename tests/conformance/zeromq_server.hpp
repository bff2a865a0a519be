// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"

// What the suites of the engines on ZeroMQ have in common.
namespace joust::conformance {

inline std::vector<Variant> variants_over_streams(Role role) {
  std::vector<Variant> all = message_variants(role, Settings::each_choice);
  std::erase_if(all, [](const Variant& each) { return each.engine->transport != Transport::stream; });
  return all;
}

inline void expect_service(Server& server) {
  MessagePeer peer(server.endpoint());
  peer.join();
  peer.send("12345678 and you?");
  EXPECT_EQ(peer.receive(), "12345678 and you?");
}

}  // namespace joust::conformance
