// SPDX-License-Identifier: MIT
//
// The client side of websocket: sends messages, and compares each one that comes back.
#include "protocols/websocket/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "load/request_service.hpp"
#include "load/schedule.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/websocket/handshake.hpp"
#include "protocols/websocket/message.hpp"
#include "protocols/websocket/protocol.hpp"

namespace joust::websocket {
namespace {

constexpr std::size_t kLongestPath = 2 << 10;  // bytes

std::string words_of_close(const Message& close) {
  if (close.code == 0) return "the server closes the connection, and does not say why";
  return fmt::format("the server closes the connection with the code {}: '{}'", close.code,
                     printable(as_text(close.payload.subspan(kCodeBytes))));
}

// Returns whether the code speaks of the server alone, and of nothing that this side has sent.
bool is_plain_end(std::uint16_t code) {
  return code == kNormal || code == kGoingAway || code == kServiceRestart || code == kTryAgainLater;
}

}  // namespace

std::vector<ProtocolOption> handshake_options() {
  return {{.name = "path",
           .summary = "what a load asks for in the handshake; joust's servers take any path",
           .standard = "/",
           .serves = false},
          {.name = "host",
           .summary = "the field Host of a load's handshakes",
           .standard = "localhost",
           .serves = false}};
}

HandshakeTarget handshake_target(const Parameters& parameters) {
  const std::string &path = parameters.option("path"), &host = parameters.option("host");
  if (!path.starts_with('/') || !http::is_one_word(path) || path.size() > kLongestPath)
    throw std::invalid_argument(
        fmt::format("--path '{}': say a path such as /chat, without blanks and of at most {} bytes",
                    printable(path), kLongestPath));
  if (!http::is_one_word(host))
    throw std::invalid_argument(fmt::format("--host: '{}': say a name or an address", printable(host)));
  return {.path = path, .host = host};
}

ClientSide::ClientSide(std::uint64_t connection)
    : random_(mixed(connection + kMixStep)), key_(key_of(mixed(random_), mixed(random_ + kMixStep))) {}

void ClientSide::write_handshake(const HandshakeTarget& target, Writer& greeting) {
  greeting.send(
      fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
                  target.path, target.host, key_));
}

void ClientSide::write_frame(FrameHead head, std::initializer_list<Bytes> parts, Writer& writer) {
  random_ += kMixStep;
  const std::uint64_t random = mixed(random_);
  std::ranges::copy(std::as_bytes(std::span(&random, 1)).first<sizeof(MaskKey)>(),
                    head.key.emplace().begin());
  head.payload = 0;
  for (const Bytes part : parts) head.payload += part.size();
  std::byte* to = write_head(head, writer.extend(head_size(head) + head.payload).data());
  std::size_t at = 0;
  for (const Bytes part : parts) {
    to = copy_masked(part, *head.key, at, to);
    at += part.size();
  }
}

std::optional<MessageKind> ClientSide::classify(const Message& message) {
  switch (message.kind) {
    case Message::Kind::handshake:
      complaint_ = objection_to_answer(message.payload, key_);
      return complaint_.empty() ? MessageKind::greeting : MessageKind::wrong;
    case Message::Kind::ping:
      ping_.emplace(message.payload.begin(), message.payload.end());
      return MessageKind::asks;
    case Message::Kind::pong:
      return MessageKind::other;
    case Message::Kind::close:
      wrong(message.code == 0 ? std::uint16_t{kNormal} : message.code, words_of_close(message));
      return is_plain_end(code_) ? MessageKind::ends : MessageKind::wrong;
    case Message::Kind::violation:
      return wrong(message.code, std::string(as_text(message.payload)));
    case Message::Kind::text:
    case Message::Kind::binary:
      break;
  }
  return std::nullopt;
}

MessageKind ClientSide::wrong(std::uint16_t code, std::string complaint) {
  code_ = code;
  complaint_ = std::move(complaint);
  return MessageKind::wrong;
}

void ClientSide::write_answer(Writer& answer) {
  if (ping_) write_frame({.opcode = Opcode::pong}, *std::exchange(ping_, std::nullopt), answer);
}

// A violation of the handshake has a status of HTTP, for which a client has no words.
void ClientSide::write_refusal(Writer& refusal) {
  if (const Violation why{code_, {}}; why.is_close()) write_close(why, refusal);
}

void ClientSide::write_close(const Violation& why, Writer& writer) {
  std::array<std::byte, kLargestControl> payload{};
  write_frame({.opcode = Opcode::close}, close_payload(why, payload), writer);
}

namespace {

class WebSocketExchange final : public Exchange {
 public:
  WebSocketExchange(std::shared_ptr<const ClientOptions> options, const Parameters& parameters)
      : options_(std::move(options)),
        connection_(parameters.connection),
        payload_(parameters.payload),
        pattern_(Pattern::of(payload_, options_->opcode == Opcode::text ? Pattern::Alphabet::printable
                                                                        : Pattern::Alphabet::any)),
        reply_head_bytes_(head_size({.opcode = options_->opcode, .payload = payload_})),
        side_(connection_) {
    write_head({.opcode = options_->opcode, .payload = payload_}, reply_head_.data());
  }

  bool write_greeting(Writer& greeting) override {
    side_.write_handshake(options_->target, greeting);
    return true;
  }

  void write_request(std::uint64_t number, Writer& request) override {
    const Bytes message = pattern_->message(connection_, number);
    for (std::size_t at = 0; at < payload_; at += options_->fragment) {
      const Bytes part = message.subspan(at, std::min(options_->fragment, payload_ - at));
      side_.write_frame({.opcode = at == 0 ? options_->opcode : Opcode::continuation,
                         .is_final = at + part.size() == payload_},
                        part, request);
    }
  }

  MessageKind classify(std::uint64_t number, Bytes message) override {
    if (is_right(number, message)) return MessageKind::reply;
    const auto kind = side_.classify(Message::read(message));
    complaint_ = kind ? side_.complaint() : "a reply is not the message that was sent";
    return kind.value_or(MessageKind::wrong);
  }

  Bytes expected(std::uint64_t number) const override {
    const Bytes message = pattern_->message(connection_, number);
    expected_.assign(reply_head_.begin(),
                     reply_head_.begin() + static_cast<std::ptrdiff_t>(reply_head_bytes_));
    expected_.insert(expected_.end(), message.begin(), message.end());
    return expected_;
  }
  std::string_view complaint() const override { return complaint_; }

  void write_answer(Writer& answer) override { side_.write_answer(answer); }
  void write_refusal(Writer& refusal) override { side_.write_refusal(refusal); }
  void write_last(Writer& last) override { side_.write_last(last); }

 private:
  bool is_right(std::uint64_t number, Bytes message) const {
    return message.size() == reply_head_bytes_ + payload_ &&
           same_bytes(message.first(reply_head_bytes_), Bytes(reply_head_).first(reply_head_bytes_)) &&
           same_bytes(message.subspan(reply_head_bytes_), pattern_->message(connection_, number));
  }

  const std::shared_ptr<const ClientOptions> options_;
  const std::uint64_t connection_;
  const std::size_t payload_;
  const std::shared_ptr<const Pattern> pattern_;
  std::array<std::byte, kLongestBareHead> reply_head_{};  // of every right reply
  const std::size_t reply_head_bytes_;
  ClientSide side_;
  mutable std::vector<std::byte> expected_;
  std::string_view complaint_;
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  auto options = std::make_shared<const ClientOptions>(client_options(parameters));
  return std::make_unique<RequestService>(
      Own{[] { return std::make_unique<MessageCutter>(Role::serve); }}, parameters,
      [options](const Parameters& own) { return std::make_unique<WebSocketExchange>(options, own); }, run);
}

}  // namespace joust::websocket
