// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "joust/session.hpp"

namespace joust {

// Messages that a session did not want when they came, in their order. One thread.
class HeldMessages {
 public:
  bool empty() const { return messages_.empty(); }
  // Returns whether one more message of so many bytes stays within the limit.
  bool has_room(std::size_t bytes, std::size_t most) const {
    return messages_.empty() || bytes_ + bytes <= most;
  }
  void push(Bytes message) {
    messages_.emplace_back(message.begin(), message.end());
    bytes_ += message.size() + kBesides;
  }
  // Passes on what the session wants now.
  void offer(Session& session, Time now) {
    while (!messages_.empty() && session.want() != Want::nothing) {
      bytes_ -= messages_.front().size() + kBesides;
      session.on_bytes(messages_.front(), now);
      messages_.pop_front();
    }
  }
  void clear() { messages_.clear(); }

 private:
  static constexpr std::size_t kBesides = 64;  // the least memory that a message takes beside its bytes

  std::deque<std::vector<std::byte>> messages_;
  std::size_t bytes_ = 0;
};

}  // namespace joust
