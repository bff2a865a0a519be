// SPDX-License-Identifier: MIT
//
// uppercase: the server sends the text back with a to z turned into A to Z and all other bytes unchanged. As
// in echo, messages have no boundaries, but a reply that merely repeats the request is detected.
#include <algorithm>

#include "joust/protocol.hpp"
#include "load/schedule.hpp"

namespace joust {
namespace {

// ASCII only, whatever the locale: the protocol's bytes must not depend on the machine.
std::byte upper(std::byte byte) {
  return byte >= std::byte{'a'} && byte <= std::byte{'z'} ? byte ^ std::byte{0x20} : byte;
}

class UppercaseHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    std::ranges::transform(message, replies.extend(message.size()).begin(), upper);
    return true;
  }
};

class UppercaseExchange : public Exchange {
 public:
  explicit UppercaseExchange(const Parameters& parameters)
      : connection_(parameters.connection),
        payload_(parameters.payload),
        requests_(Pattern::of(payload_, Pattern::Alphabet::printable)),
        replies_(Pattern::of(payload_, Pattern::Alphabet::upper)) {}

  void write_request(std::uint64_t number, Writer& request) override {
    request.send(requests_->message(connection_, number));
  }
  bool verify(std::uint64_t number, Bytes reply) override {
    return same_bytes(reply, replies_->message(connection_, number));
  }
  Bytes expected(std::uint64_t number) const override { return replies_->message(connection_, number); }
  std::size_t reply_size(std::uint64_t /*number*/) const override { return payload_; }

 private:
  const std::uint64_t connection_;
  const std::size_t payload_;
  const std::shared_ptr<const Pattern> requests_;
  const std::shared_ptr<const Pattern> replies_;
};

}  // namespace

Protocol uppercase_protocol() {
  return request_response({
      .name = "uppercase",
      .summary = "the server sends back the text in upper case",
      .framing = Raw{},
      .handler = [] { return std::make_unique<UppercaseHandler>(); },
      .exchange =
          [](const Parameters& parameters) { return std::make_unique<UppercaseExchange>(parameters); },
  });
}

}  // namespace joust
