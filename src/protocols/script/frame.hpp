// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "joust/framing.hpp"
#include "protocols/script/template_parser.hpp"

namespace joust::script {

// How a stream is cut into messages. A message is all of its bytes, boundaries included.
struct Frame {
  std::string text{};  // as it was written: "line"
  // Makes the cutter of one connection; any thread. Empty for `datagram`: the transport separates messages.
  std::function<std::unique_ptr<Cutter>()> cutter{};
  bool ends_connection = false;  // `close`: a message is all that comes until the peer ends the connection
  // Returns whether the peer ends the connection with a message. Empty: no message says that.
  bool (*is_last)(Bytes message) = nullptr;
};

// Parses "length:N", "line", "until:BYTES", "u8", "u16", "u32", "u64", "resp", "http", "datagram" or "close".
// A size may have further words: "u32le+self@4" is little endian, counts its own bytes too, and stands at
// byte
// 4. The bytes before it are not counted. An error says what is possible.
std::expected<Frame, std::string> parse_frame(std::string_view text);

}  // namespace joust::script
