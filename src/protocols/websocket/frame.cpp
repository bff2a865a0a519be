// SPDX-License-Identifier: MIT
#include "protocols/websocket/frame.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"

namespace joust::websocket {
namespace {

// The first byte of a head, and its second one.
constexpr unsigned kFinal = 0x80, kReserved = 0x70, kOpcode = 0x0f;
constexpr unsigned kMasked = 0x80, kSize = 0x7f;

// Values of the size in the second byte that stand for a larger one behind it.
constexpr unsigned kSize16 = 126, kSize64 = 127;

std::size_t bytes_of_size(unsigned size) {
  return size == kSize64 ? 8 : size == kSize16 ? 2 : 0;
}

unsigned short_size(std::uint64_t payload) {
  return payload < kSize16 ? static_cast<unsigned>(payload) : payload <= 0xffff ? kSize16 : kSize64;
}

std::uint64_t payload_size(Bytes head) {
  const auto size = std::to_integer<unsigned>(head[1]) & kSize;
  if (size == kSize16) return read_big_endian<std::uint16_t>(head.data() + 2);
  return size == kSize64 ? read_big_endian<std::uint64_t>(head.data() + 2) : size;
}

bool is_known(Opcode opcode) {
  return opcode <= Opcode::binary || (opcode >= Opcode::close && opcode <= Opcode::pong);
}

}  // namespace

std::size_t head_size(Bytes begin) {
  const auto second = std::to_integer<unsigned>(begin[1]);
  return 2 + bytes_of_size(second & kSize) + ((second & kMasked) != 0 ? sizeof(MaskKey) : 0);
}

std::size_t head_size(const FrameHead& head) {
  return 2 + bytes_of_size(short_size(head.payload)) + (head.key ? sizeof(MaskKey) : 0);
}

std::uint64_t frame_size(Bytes begin) {
  return head_size(begin) + payload_size(begin);
}

std::expected<FrameHead, Violation> read_head(Bytes bytes, Role sender) {
  const auto refused = [](CloseCode code, std::string_view words) {
    return std::unexpected(Violation{code, words});
  };
  const auto first = std::to_integer<unsigned>(bytes[0]), second = std::to_integer<unsigned>(bytes[1]);
  FrameHead head{.opcode = static_cast<Opcode>(first & kOpcode),
                 .is_final = (first & kFinal) != 0,
                 .payload = second & kSize};
  if ((first & kReserved) != 0)
    return refused(kProtocolError, "a frame has a reserved bit, and no extension was agreed on");
  if (!is_known(head.opcode)) return refused(kProtocolError, "a frame has an unknown opcode");
  if (is_control(head.opcode) && !head.is_final)
    return refused(kProtocolError, "a control frame is a fragment");
  if (is_control(head.opcode) && head.payload > kLargestControl)
    return refused(kProtocolError, "a control frame has more than 125 bytes");
  const bool is_masked = (second & kMasked) != 0;
  if (is_masked != (sender == Role::dial))
    return refused(kProtocolError,
                   is_masked ? "a frame of the server is masked" : "a frame of the client is not masked");
  head.payload = payload_size(bytes);
  if (short_size(head.payload) != (second & kSize))
    return refused(kProtocolError, "the size of a frame takes more bytes than it needs");
  if (head.payload > kLargestMessage) return refused(kTooLarge, "a message has more than 1 MiB");
  if (is_masked) std::ranges::copy(bytes.last<sizeof(MaskKey)>(), head.key.emplace().begin());
  return head;
}

std::byte* write_head(const FrameHead& head, std::byte* to) {
  const unsigned size = short_size(head.payload);
  *to++ = static_cast<std::byte>((head.is_final ? kFinal : 0) | static_cast<unsigned>(head.opcode));
  *to++ = static_cast<std::byte>((head.key ? kMasked : 0) | size);
  if (size == kSize16) write_big_endian(static_cast<std::uint16_t>(head.payload), to);
  if (size == kSize64) write_big_endian(head.payload, to);
  to += bytes_of_size(size);
  return head.key ? std::ranges::copy(*head.key, to).out : to;
}

// Eight bytes at a time: the key twice.
std::byte* copy_masked(Bytes from, const MaskKey& key, std::uint64_t at, std::byte* to) {
  std::array<std::byte, 2 * sizeof(MaskKey)> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key[(at + i) % key.size()];
  std::uint64_t mask = 0;
  std::memcpy(&mask, keys.data(), sizeof mask);
  const std::byte* next = from.data();
  std::size_t left = from.size();
  for (; left >= sizeof mask; left -= sizeof mask, next += sizeof mask, to += sizeof mask) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, sizeof word);
    word ^= mask;
    std::memcpy(to, &word, sizeof word);
  }
  for (std::size_t i = 0; i < left; ++i) *to++ = next[i] ^ keys[i];
  return to;
}

}  // namespace joust::websocket
