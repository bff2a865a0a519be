// SPDX-License-Identifier: MIT
//
// The client side of websocket: shakes hands, sends masked messages, and compares each message that comes
// back.
//
// Keys of masks and of handshakes are pseudo-random and the same in every load, because all contestants shall
// get the same bytes. So the masks protect no proxy on the way: a load is no browser.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "base/random.hpp"
#include "load/pattern.hpp"
#include "load/request_service.hpp"
#include "protocols/websocket/handshake.hpp"
#include "protocols/websocket/message.hpp"
#include "protocols/websocket/message_cutter.hpp"
#include "protocols/websocket/options.hpp"
#include "protocols/websocket/protocol.hpp"

namespace joust::websocket {
namespace {

class WebSocketExchange final : public Exchange {
 public:
  WebSocketExchange(std::shared_ptr<const Manner> manner, const Parameters& parameters)
      : manner_(std::move(manner)),
        connection_(parameters.connection),
        payload_(parameters.payload),
        pattern_(Pattern::of(payload_, manner_->opcode == Opcode::text ? Pattern::Alphabet::printable
                                                                       : Pattern::Alphabet::any)),
        reply_head_bytes_(head_size({.opcode = manner_->opcode, .payload = payload_})),
        random_(mixed(connection_ + kMixStep)),
        key_(key_of(mixed(random_), mixed(random_ + kMixStep))) {
    write_head({.opcode = manner_->opcode, .payload = payload_}, reply_head_.data());
  }

  bool write_greeting(Writer& greeting) override {
    greeting.send(
        fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
                    manner_->path, manner_->host, key_));
    return true;
  }

  void write_request(std::uint64_t number, Writer& request) override {
    if (ping_) write_frame({.opcode = Opcode::pong}, *std::exchange(ping_, std::nullopt), request);
    const Bytes message = pattern_->message(connection_, number);
    for (std::size_t at = 0; at < payload_; at += manner_->fragment) {
      const Bytes part = message.subspan(at, std::min(manner_->fragment, payload_ - at));
      write_frame({.opcode = at == 0 ? manner_->opcode : Opcode::continuation,
                   .is_final = at + part.size() == payload_},
                  part, request);
    }
  }

  MessageKind classify(std::uint64_t number, Bytes message) override {
    if (is_right(number, message)) return MessageKind::reply;
    const Message other = Message::read(message);
    switch (other.kind) {
      case Message::Kind::handshake:
        complaint_ = objection_to_answer(other.payload, key_);
        return complaint_.empty() ? MessageKind::greeting : MessageKind::wrong;
      case Message::Kind::ping:
        ping_.emplace(other.payload.begin(), other.payload.end());
        return MessageKind::other;
      case Message::Kind::pong:
        return MessageKind::other;
      case Message::Kind::close:
        complaint_ = words_of_close(other);
        return MessageKind::wrong;
      case Message::Kind::violation:
        complaint_ = as_text(other.payload);
        return MessageKind::wrong;
      case Message::Kind::text:
      case Message::Kind::binary:
        break;
    }
    complaint_ = "a reply is not the message that was sent";
    return MessageKind::wrong;
  }

  Bytes expected(std::uint64_t number) const override {
    const Bytes message = pattern_->message(connection_, number);
    expected_.assign(reply_head_.begin(),
                     reply_head_.begin() + static_cast<std::ptrdiff_t>(reply_head_bytes_));
    expected_.insert(expected_.end(), message.begin(), message.end());
    return expected_;
  }
  std::string_view complaint() const override { return complaint_; }

  void write_last(Writer& last) override {
    constexpr std::array kCode{static_cast<std::byte>(kNormal >> 8), static_cast<std::byte>(kNormal & 0xff)};
    write_frame({.opcode = Opcode::close}, kCode, last);
  }

 private:
  bool is_right(std::uint64_t number, Bytes message) const {
    return message.size() == reply_head_bytes_ + payload_ &&
           same_bytes(message.first(reply_head_bytes_), Bytes(reply_head_).first(reply_head_bytes_)) &&
           same_bytes(message.subspan(reply_head_bytes_), pattern_->message(connection_, number));
  }

  void write_frame(FrameHead head, Bytes payload, Writer& writer) {
    random_ += kMixStep;
    const std::uint64_t random = mixed(random_);
    std::ranges::copy(std::as_bytes(std::span(&random, 1)).first<sizeof(MaskKey)>(),
                      head.key.emplace().begin());
    head.payload = payload.size();
    const std::span<std::byte> room = writer.extend(head_size(head) + payload.size());
    copy_masked(payload, *head.key, 0, write_head(head, room.data()));
  }

  static std::string words_of_close(const Message& close) {
    if (close.code == 0) return "the server closes the connection, and does not say why";
    return fmt::format("the server closes the connection with the code {}: '{}'", close.code,
                       printable(as_text(close.payload.subspan(2))));
  }

  const std::shared_ptr<const Manner> manner_;
  const std::uint64_t connection_;
  const std::size_t payload_;
  const std::shared_ptr<const Pattern> pattern_;
  std::array<std::byte, kLongestBareHead> reply_head_{};  // of every right reply
  const std::size_t reply_head_bytes_;
  std::uint64_t random_;
  const std::string key_;  // of the handshake
  // The last ping, which is answered before the next request: an exchange writes at no other time.
  std::optional<std::vector<std::byte>> ping_;
  mutable std::vector<std::byte> expected_;
  std::string complaint_;
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  auto how = std::make_shared<const Manner>(manner(parameters));
  return std::make_unique<RequestService>(
      Own{[] { return std::make_unique<MessageCutter>(Role::serve); }}, parameters,
      [how](const Parameters& own) { return std::make_unique<WebSocketExchange>(how, own); }, run);
}

}  // namespace joust::websocket
