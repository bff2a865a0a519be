// SPDX-License-Identifier: MIT
//
// The server side of websocket: sends back every message as it came.
#include "protocols/websocket/server.hpp"

#include <fmt/format.h>

#include "protocols/websocket/handshake.hpp"
#include "protocols/websocket/message.hpp"
#include "protocols/websocket/protocol.hpp"
#include "session/handler_session.hpp"

namespace joust::websocket {
namespace {

constexpr std::uint16_t kLastCodeOfErrors = 1014;  // those from kProtocolError on

std::string_view reason_of(std::uint16_t status) {
  return status == 426   ? "Upgrade Required"
         : status == 431 ? "Request Header Fields Too Large"
                         : "Bad Request";
}

}  // namespace

ServerSide::Step ServerSide::take(const Message& message, Bytes bytes, Writer& replies) {
  using Kind = Message::Kind;
  switch (message.kind) {
    case Kind::text:
    case Kind::binary:
      return Step::message;
    case Kind::ping:
      write_bare(Opcode::pong, message.payload, replies);
      return Step::answered;
    case Kind::pong:
      return Step::answered;
    case Kind::handshake:
      return shake_hands(message.payload, replies);
    case Kind::close:
      return end(message, bytes, replies);
    case Kind::violation:
      break;
  }
  return refused({message.code, as_text(message.payload)}, replies);
}

ServerSide::Step ServerSide::shake_hands(Bytes head, Writer& replies) {
  const auto key = key_in(head);
  if (!key) return refused(key.error(), replies);
  is_open_ = true;
  replies.send(
      fmt::format("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Accept: {}\r\n\r\n",
                  accept_of(*key)));
  return Step::answered;
}

// The answer to a close is the same close. The server ends the connection then (section 7.1.1).
ServerSide::Step ServerSide::end(const Message& close, Bytes bytes, Writer& replies) {
  replies.send(bytes);
  if (close.code >= kProtocolError && close.code <= kLastCodeOfErrors)
    complaint_ = fmt::format("the client refuses what it has received: close code {}", close.code);
  return Step::ended;
}

ServerSide::Step ServerSide::refused(const Violation& violation, Writer& replies) {
  refuse(violation, replies);
  return Step::ended;
}

void ServerSide::refuse(const Violation& violation, Writer& replies) {
  complaint_ = violation.words;
  if (violation.is_close()) {
    if (is_open_) write_bare_close(violation, replies);
    return;
  }
  replies.send(fmt::format(
      "HTTP/1.1 {} {}\r\n{}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\n",
      violation.code, reason_of(violation.code),
      violation.code == 426 ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" : "",
      violation.words.size() + 1, violation.words));
}

void ServerSide::go_away(Writer& replies) {
  if (is_open_) write_bare_close({kGoingAway, "the server stops"}, replies);
}

namespace {

constexpr std::uint64_t kLeastRate = 1024;  // bytes per second; see RequestResponse::least_rate

class WebSocketHandler final : public Handler {
 public:
  bool on_message(Bytes bytes, Writer& replies) override {
    const ServerSide::Step step = side_.take(Message::read(bytes), bytes, replies);
    if (step == ServerSide::Step::message) replies.send(bytes);
    return step != ServerSide::Step::ended;
  }
  std::string_view complaint() const override { return side_.complaint(); }
  void write_last(Writer& last) override { side_.go_away(last); }

 private:
  ServerSide side_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& /*parameters*/) {
  return std::make_unique<HandlerService>(
      Own{[] { return std::make_unique<MessageCutter>(Role::dial); }},
      [] { return std::make_unique<WebSocketHandler>(); }, RateRules::of(kLeastRate));
}

}  // namespace joust::websocket
