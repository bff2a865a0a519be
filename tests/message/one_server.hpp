// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "message/message_net.hpp"
#include "message/scripted_session.hpp"

namespace joust {

// Messages that begin with their numbers.
inline std::deque<std::string> numbered(std::size_t count, std::size_t size = 20) {
  std::deque<std::string> messages;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = std::to_string(i) + ' ';
    text.resize(std::max(size, text.size()), 'x');
    messages.push_back(std::move(text));
  }
  return messages;
}

inline std::vector<std::string> list(const std::deque<std::string>& messages) {
  return {messages.begin(), messages.end()};
}

// A server and its clients, joined by links, and the scripts of the first two sessions.
class OneServerTest : public testing::Test {
 protected:
  MessageNet& net(const MessageNet::Rules& rules = {}) {
    if (!net_) net_.emplace(rules, server_, client_);
    return *net_;
  }
  MessageScript& server() { return *server_.scripts.at(0); }
  MessageScript& client() { return *client_.scripts.at(0); }
  // One client that has joined.
  void join(const MessageNet::Rules& rules = {}) {
    net(rules).dial();
    net().pass({});
    ASSERT_NE(net().client(0), nullptr);
    ASSERT_NE(net().server_of(0), nullptr);
  }
  Bytes bare(const DatagramHead& head) {
    write_signal(head, out_);
    return out_.front();
  }

  ScriptedMessageService server_, client_;
  DatagramOut out_;
  std::optional<MessageNet> net_;
};

}  // namespace joust
