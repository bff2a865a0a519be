// SPDX-License-Identifier: MIT
//
// Replaces messages.cpp where Protocol Buffers were not found at build time. The protocol then keeps its row
// with the reason, and only messages_unavailable() is called.
#include "protocols/work/messages.hpp"

namespace joust::work {

std::string messages_unavailable() {
  return "Protocol Buffers not found at build time: script/setup work && script/build";
}

Parsed parse(Bytes /*message*/) {
  return "this program cannot read a WorkMessage";
}

Bytes serialize(const JobRequest& /*request*/, Room& /*room*/) {
  return {};
}

Bytes serialize(const JobResponse& /*response*/, Room& /*room*/) {
  return {};
}

}  // namespace joust::work
