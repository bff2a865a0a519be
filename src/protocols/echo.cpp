// SPDX-License-Identifier: MIT
//
// echo: the server sends back all bytes as they arrive. Messages have no boundaries: a reply has as many
// bytes as its request, and each byte is compared.
#include "joust/protocol.hpp"
#include "load/schedule.hpp"

namespace joust {
namespace {

class EchoHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(message);
    return true;
  }
};

class EchoExchange : public Exchange {
 public:
  explicit EchoExchange(const Parameters& parameters)
      : connection_(parameters.connection),
        payload_(parameters.payload),
        pattern_(Pattern::of(payload_, Pattern::Alphabet::any)) {}

  void write_request(std::uint64_t number, Writer& request) override {
    request.send(pattern_->message(connection_, number));
  }
  bool verify(std::uint64_t number, Bytes reply) override {
    return same_bytes(reply, pattern_->message(connection_, number));
  }
  Bytes expected(std::uint64_t number) const override { return pattern_->message(connection_, number); }
  std::size_t reply_size(std::uint64_t /*number*/) const override { return payload_; }

 private:
  const std::uint64_t connection_;
  const std::size_t payload_;
  const std::shared_ptr<const Pattern> pattern_;
};

}  // namespace

Protocol echo_protocol() {
  return request_response({
      .name = "echo",
      .summary = "the server sends back every byte as it came",
      .framing = Raw{},
      .handler = [] { return std::make_unique<EchoHandler>(); },
      .exchange = [](const Parameters& parameters) { return std::make_unique<EchoExchange>(parameters); },
  });
}

}  // namespace joust
