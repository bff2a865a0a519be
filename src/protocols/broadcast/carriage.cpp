// SPDX-License-Identifier: MIT
#include "protocols/broadcast/carriage.hpp"

#include "protocols/websocket/message_cutter.hpp"

namespace joust::broadcast {

Carriage carriage_of(const Parameters& parameters) {
  return parameters.option("framing") == "websocket" ? Carriage::websocket : Carriage::length;
}

Framing framing_of(Carriage carriage, Role sender) {
  if (carriage == Carriage::length) return kFraming;
  return Own{[sender] { return std::make_unique<websocket::MessageCutter>(sender); }};
}

void write(const Frame& frame, Carriage carriage, Writer& into) {
  if (carriage == Carriage::length) return write(frame, into);
  const websocket::FrameHead head{.opcode = websocket::Opcode::binary,
                                  .payload = kHeadBytes + frame.payload.size()};
  std::byte* to = write_head(head, into.extend(head_size(head) + head.payload).data());
  to = std::ranges::copy(head_of(frame), to).out;
  std::ranges::copy(frame.payload, to);
}

std::size_t framed_size(Carriage carriage, Bytes begin) {
  if (carriage == Carriage::length) return kLengthBytes + read_big_endian<std::uint32_t>(begin.data());
  return websocket::frame_size(begin);
}

}  // namespace joust::broadcast
