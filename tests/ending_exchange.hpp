// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/handler.hpp"

namespace joust::test {

// A protocol whose server ends connections by its replies. A request is a line with its number, and so is its
// reply; with " last" behind it, it is the last one of its connection.
class EndingExchange : public Exchange {
 public:
  static constexpr Line kFraming{.largest = 100};

  void write_request(std::uint64_t number, Writer& request) override {
    request.send(std::string_view(std::to_string(number)));
  }
  MessageKind classify(std::uint64_t number, Bytes reply) override {
    const std::string right = std::to_string(number);
    if (as_text(reply) == right) return MessageKind::reply;
    return as_text(reply) == right + " last" ? MessageKind::last_reply : MessageKind::wrong;
  }
};

}  // namespace joust::test
