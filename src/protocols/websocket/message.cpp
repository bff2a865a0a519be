// SPDX-License-Identifier: MIT
#include "protocols/websocket/message.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/endian.hpp"
#include "base/printable.hpp"

namespace joust::websocket {
namespace {

// The first byte tells them apart: that of a frame has its highest bit set, that of a head is a letter.
constexpr unsigned kFrame = 0x80, kFrameOpcode = 0x0f, kViolation = 0;

// Codes that a peer may send (section 7.4): the registered ones but those that stand for the lack of a code,
// and those for libraries and applications.
bool may_be_sent(unsigned code) {
  constexpr unsigned kUndefined = 1004, kNone = 1005, kAbnormal = 1006, kLastRegistered = 1014;
  if (code >= 3000) return code < 5000;
  return code >= kNormal && code <= kLastRegistered && code != kUndefined && code != kNone &&
         code != kAbnormal;
}

}  // namespace

Message Message::read(Bytes bytes) {
  const auto first = std::to_integer<unsigned>(bytes[0]);
  if (first == kViolation)
    return {Kind::violation, bytes.subspan(1 + kCodeBytes), read_big_endian<std::uint16_t>(bytes.data() + 1)};
  if ((first & kFrame) == 0) return {Kind::handshake, bytes};
  const Bytes payload = bytes.subspan(head_size(bytes));
  switch (static_cast<Opcode>(first & kFrameOpcode)) {
    case Opcode::text:
      return {Kind::text, payload};
    case Opcode::ping:
      return {Kind::ping, payload};
    case Opcode::pong:
      return {Kind::pong, payload};
    case Opcode::close:
      return {Kind::close, payload,
              payload.empty() ? std::uint16_t{0} : read_big_endian<std::uint16_t>(payload.data())};
    case Opcode::binary:
    case Opcode::continuation:
      break;
  }
  return {Kind::binary, payload};
}

std::string Message::of(const Violation& violation) {
  std::string text(1 + kCodeBytes, static_cast<char>(kViolation));
  write_big_endian(violation.code, reinterpret_cast<std::byte*>(text.data() + 1));
  return text.append(violation.words);
}

Bytes close_payload(const Violation& why, std::span<std::byte, kLargestControl> room) {
  write_big_endian(why.code, room.data());
  const Bytes words = as_bytes(why.words.substr(0, room.size() - kCodeBytes));
  std::ranges::copy(words, room.begin() + kCodeBytes);
  return room.first(kCodeBytes + words.size());
}

void write_bare(Opcode opcode, Bytes payload, Writer& writer) {
  const FrameHead head{.opcode = opcode, .payload = payload.size()};
  std::ranges::copy(payload, write_head(head, writer.extend(head_size(head) + payload.size()).data()));
}

void write_bare_close(const Violation& why, Writer& writer) {
  std::array<std::byte, kLargestControl> payload{};
  write_bare(Opcode::close, close_payload(why, payload), writer);
}

Violation objection_to_close(Bytes payload) {
  if (payload.empty()) return {};
  if (payload.size() < kCodeBytes) return {kProtocolError, "a close frame has half a code"};
  if (!may_be_sent(read_big_endian<std::uint16_t>(payload.data())))
    return {kProtocolError, "a close frame has a code that is not to be sent"};
  if (!is_utf8(as_text(payload.subspan(kCodeBytes))))
    return {kNotUtf8, "the reason of a close frame is not UTF-8"};
  return {};
}

// Eight characters of ASCII at a time: most text has no others.
bool is_utf8(std::string_view text) {
  constexpr std::uint64_t kNotAscii = 0x8080808080808080U;
  while (!text.empty()) {
    std::uint64_t word = 0;
    if (text.size() >= sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & kNotAscii) == 0) {
        text.remove_prefix(sizeof word);
        continue;
      }
    }
    const std::size_t size = utf8_sequence(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace joust::websocket
