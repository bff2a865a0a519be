// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joust/handler.hpp"
#include "joust/protocol.hpp"
#include "protocols/websocket/message.hpp"

namespace joust::websocket {

// The resource that a handshake asks for, and the options that name it.
struct HandshakeTarget {
  std::string path{}, host{};
};
std::vector<ProtocolOption> handshake_options();
HandshakeTarget handshake_target(const Parameters& parameters);  // throws std::invalid_argument

// The duties of a client beside its messages, for one connection: shakes hands, answers pings and closes, and
// masks what it sends.
//
// Keys of masks and of handshakes are pseudo-random and the same in every load, because all contestants shall
// get the same bytes. So the masks protect no proxy on the way: a load is no browser.
class ClientSide {
 public:
  explicit ClientSide(std::uint64_t connection);

  void write_handshake(const HandshakeTarget& target, Writer& greeting);
  // Sends a frame, whose payload consists of these parts.
  void write_frame(FrameHead head, std::initializer_list<Bytes> parts, Writer& writer);
  void write_frame(FrameHead head, Bytes payload, Writer& writer) { write_frame(head, {payload}, writer); }

  // Classifies what a MessageCutter has handed on. Returns nothing for text and binary, which are left to the
  // caller. `greeting` is the right answer to the handshake.
  std::optional<MessageKind> classify(const Message& message);
  std::string_view complaint() const { return complaint_; }

  // Answers the last one of several pings only, as section 5.5.3 allows.
  void write_answer(Writer& answer);
  // Writes the close code of the rule that the server has broken, or of its own close.
  void write_refusal(Writer& refusal);
  void write_last(Writer& last) { write_close({kNormal, {}}, last); }

 private:
  void write_close(const Violation& why, Writer& writer);
  MessageKind wrong(std::uint16_t code, std::string complaint);

  std::uint64_t random_;
  const std::string key_;                       // of the handshake
  std::optional<std::vector<std::byte>> ping_;  // the last one without an answer
  std::uint16_t code_ = 0;                      // of the refusal; 0: there is none
  std::string complaint_;
};

}  // namespace joust::websocket
