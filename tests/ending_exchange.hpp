// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "joust/handler.hpp"

namespace joust::test {

// A protocol whose server ends connections by its replies. A request is a line with its number, and so is its
// reply; with " last" behind it, it is the last one of its connection. The polite one says hello first, which
// the server says too, and takes its leave.
class EndingExchange : public Exchange {
 public:
  static constexpr Line kFraming{.largest = 100};
  enum class Words : std::uint8_t { none, polite };

  explicit EndingExchange(Words words = Words::none) : polite_(words == Words::polite) {}

  bool write_greeting(Writer& greeting) override {
    if (polite_) greeting.send("hello");
    return polite_;
  }
  void write_request(std::uint64_t number, Writer& request) override {
    request.send(std::string_view(std::to_string(number)));
  }
  MessageKind classify(std::uint64_t number, Bytes reply) override {
    const std::string right = std::to_string(number);
    if (polite_ && as_text(reply) == "hello") return MessageKind::greeting;
    if (as_text(reply) == right) return MessageKind::reply;
    return as_text(reply) == right + " last" ? MessageKind::last_reply : MessageKind::wrong;
  }
  void write_last(Writer& last) override {
    if (polite_) last.send("bye");
  }

 private:
  const bool polite_;
};

}  // namespace joust::test
