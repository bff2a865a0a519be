// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"
#include "joust/session.hpp"
#include "protocols/websocket/handshake.hpp"
#include "protocols/websocket/message.hpp"

// Both sides' words, as a test writes them.
namespace joust::websocket::test {

inline std::string frame(FrameHead head, std::string_view payload) {
  head.payload = payload.size();
  std::string text(head_size(head) + payload.size(), '\0');
  std::byte* const begin = reinterpret_cast<std::byte*>(text.data());
  std::byte* const to = write_head(head, begin);
  if (head.key)
    copy_masked(as_bytes(payload), *head.key, 0, to);
  else
    std::ranges::copy(as_bytes(payload), to);
  return text;
}

inline std::string bare(Opcode opcode, std::string_view payload, bool is_final = true) {
  return frame({.opcode = opcode, .is_final = is_final}, payload);
}

inline std::string masked(Opcode opcode, std::string_view payload, bool is_final = true) {
  constexpr MaskKey kKey{std::byte{0x37}, std::byte{0xfa}, std::byte{0x21}, std::byte{0x3d}};
  return frame({.opcode = opcode, .is_final = is_final, .key = kKey}, payload);
}

// The payload of a close frame.
inline std::string code(unsigned number, std::string_view words = {}) {
  return std::string{static_cast<char>(number >> 8), static_cast<char>(number & 0xff)}.append(words);
}

// What a session says now, taken off its hands.
inline std::string taken_from(Session& session) {
  std::string text;
  for (Segment segment; session.output({&segment, 1}) > 0;) {
    text += as_text(segment.bytes);
    session.consumed(segment.size());
    session.released(segment.size());
  }
  return text;
}

// Those of RFC 6455, section 1.3.
inline constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
inline constexpr std::string_view kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

inline std::string request(std::string_view fields = "Upgrade: websocket\r\nConnection: Upgrade\r\n") {
  return "GET /chat HTTP/1.1\r\nHost: server.example.com\r\n" + std::string(fields) +
         "Sec-WebSocket-Key: " + std::string(kKey) + "\r\nSec-WebSocket-Version: 13\r\n\r\n";
}

inline std::string answer(std::string_view accept = kAccept, std::string_view fields = {}) {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Accept: " +
         std::string(accept) + "\r\n" + std::string(fields) + "\r\n";
}

}  // namespace joust::websocket::test
