// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "joust/protocol.hpp"

namespace joust::test {

// Lines that come back with something before them; the client expects "> ".
class Prefixing : public Handler {
 public:
  explicit Prefixing(std::string prefix) : prefix_(std::move(prefix)) {}
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(prefix_ + std::string(as_text(message)));
    return true;
  }

 private:
  const std::string prefix_;
};

class ExpectingPrefix : public Exchange {
 public:
  void write_request(std::uint64_t number, Writer& request) override { request.send(std::to_string(number)); }
  bool verify(std::uint64_t number, Bytes reply) override {
    return as_text(reply) == "> " + std::to_string(number);
  }
};

inline Protocol prefix_protocol(const std::string& prefix = "> ") {
  return request_response({
      .name = "prefix",
      .summary = "lines with a prefix",
      .framing = Line{.largest = 100},
      .handler = [prefix] { return std::make_unique<Prefixing>(prefix); },
      .exchange = [](const Parameters&) { return std::make_unique<ExpectingPrefix>(); },
  });
}

}  // namespace joust::test
