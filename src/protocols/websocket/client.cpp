// SPDX-License-Identifier: MIT
//
// The client side of websocket: sends messages, and compares each one that comes back.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "load/pattern.hpp"
#include "load/request_service.hpp"
#include "protocols/websocket/client_side.hpp"
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
        side_(connection_) {
    write_head({.opcode = manner_->opcode, .payload = payload_}, reply_head_.data());
  }

  bool write_greeting(Writer& greeting) override {
    side_.write_handshake(manner_->asked, greeting);
    return true;
  }

  void write_request(std::uint64_t number, Writer& request) override {
    const Bytes message = pattern_->message(connection_, number);
    for (std::size_t at = 0; at < payload_; at += manner_->fragment) {
      const Bytes part = message.subspan(at, std::min(manner_->fragment, payload_ - at));
      side_.write_frame({.opcode = at == 0 ? manner_->opcode : Opcode::continuation,
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

  const std::shared_ptr<const Manner> manner_;
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
  auto how = std::make_shared<const Manner>(manner(parameters));
  return std::make_unique<RequestService>(
      Own{[] { return std::make_unique<MessageCutter>(Role::serve); }}, parameters,
      [how](const Parameters& own) { return std::make_unique<WebSocketExchange>(how, own); }, run);
}

}  // namespace joust::websocket
