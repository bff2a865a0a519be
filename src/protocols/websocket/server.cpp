// SPDX-License-Identifier: MIT
//
// The server side of websocket: takes any path, sends back every message, and answers what breaks the
// protocol by a status of HTTP or by a close frame with its code.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "protocols/websocket/handshake.hpp"
#include "protocols/websocket/message.hpp"
#include "protocols/websocket/message_cutter.hpp"
#include "protocols/websocket/protocol.hpp"
#include "session/handler_session.hpp"

namespace joust::websocket {
namespace {

constexpr std::uint64_t kLeastRate = 1024;  // bytes per second; see RequestResponse::least_rate
constexpr std::uint16_t kFirstCloseCode = kNormal;
constexpr std::uint16_t kLastCodeOfErrors = 1014;  // those from kProtocolError on

std::string_view reason_of(std::uint16_t status) {
  return status == 426   ? "Upgrade Required"
         : status == 431 ? "Request Header Fields Too Large"
                         : "Bad Request";
}

class WebSocketHandler final : public Handler {
 public:
  bool on_message(Bytes bytes, Writer& replies) override {
    using Kind = Message::Kind;
    const Message message = Message::read(bytes);
    switch (message.kind) {
      case Kind::text:
      case Kind::binary:
        replies.send(bytes);
        return true;
      case Kind::ping:
        send(Opcode::pong, message.payload, replies);
        return true;
      case Kind::pong:
        return true;
      case Kind::handshake:
        return shake_hands(message.payload, replies);
      case Kind::close:
        return end(message, bytes, replies);
      case Kind::violation:
        break;
    }
    return refuse({message.code, as_text(message.payload)}, replies);
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  bool shake_hands(Bytes head, Writer& replies) {
    const auto key = key_in(head);
    if (!key) return refuse(key.error(), replies);
    replies.send(
        fmt::format("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Accept: {}\r\n\r\n",
                    accept_of(*key)));
    return true;
  }

  // The answer to a close is the same close. The server ends the connection then (section 7.1.1).
  bool end(const Message& close, Bytes bytes, Writer& replies) {
    replies.send(bytes);
    if (close.code >= kProtocolError && close.code <= kLastCodeOfErrors)
      complaint_ = fmt::format("the client refuses what it has received: close code {}", close.code);
    return false;
  }

  bool refuse(const Violation& violation, Writer& replies) {
    complaint_ = violation.words;
    if (violation.code >= kFirstCloseCode) {
      std::array<std::byte, kLargestControl> payload{};
      payload[0] = static_cast<std::byte>(violation.code >> 8);
      payload[1] = static_cast<std::byte>(violation.code & 0xff);
      const Bytes words = as_bytes(violation.words.substr(0, payload.size() - 2));
      std::ranges::copy(words, payload.begin() + 2);
      send(Opcode::close, Bytes(payload).first(2 + words.size()), replies);
      return false;
    }
    replies.send(fmt::format(
        "HTTP/1.1 {} {}\r\n{}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\n",
        violation.code, reason_of(violation.code),
        violation.code == 426 ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" : "",
        violation.words.size() + 1, violation.words));
    return false;
  }

  static void send(Opcode opcode, Bytes payload, Writer& replies) {
    const FrameHead head{.opcode = opcode, .payload = payload.size()};
    std::ranges::copy(payload, write_head(head, replies.extend(head_size(head) + payload.size()).data()));
  }

  std::string complaint_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& /*parameters*/) {
  return std::make_unique<HandlerService>(
      Own{[] { return std::make_unique<MessageCutter>(Role::dial); }},
      [] { return std::make_unique<WebSocketHandler>(); }, RateRules::of(kLeastRate));
}

}  // namespace joust::websocket
