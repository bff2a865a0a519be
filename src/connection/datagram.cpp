// SPDX-License-Identifier: MIT
#include "connection/datagram.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "base/bytes.hpp"

namespace joust {
namespace {

constexpr std::uint16_t kMagic = 0x4a31;  // "J1"
constexpr unsigned kPacked = 1, kKeepAlive = 2, kUnknown = 4, kGroup = 8;

unsigned flags_of(const DatagramHead& head) {
  return (head.packed ? kPacked : 0) | (head.keep_alive ? kKeepAlive : 0) | (head.unknown ? kUnknown : 0) |
         (head.group ? kGroup : 0);
}

std::uint32_t check_of(const DatagramHead& head, Bytes payload) {
  const std::uint64_t rest =
      static_cast<std::uint64_t>(head.kind) << 32 | flags_of(head) << 16 | payload.size();
  return static_cast<std::uint32_t>(mixed(mixed(mixed(checksum(payload) + rest) ^ head.token) ^ head.number));
}

bool is_padding_or_group(const Datagram& datagram) {
  const std::size_t size = datagram.payload.size();
  switch (datagram.head.kind) {
    case DatagramKind::join:
      return DatagramHead::kBytes + size >= kJoinBytes;
    case DatagramKind::joined:
      return size == 0 || size == kGroupPlaceBytes;
    case DatagramKind::leave:
    case DatagramKind::left:
      return size == 0 || size == kGroupCountBytes;
    case DatagramKind::challenge:
    case DatagramKind::data:
      break;
  }
  return size == 0;
}

}  // namespace

void write_datagram(const DatagramHead& head, Bytes payload, DatagramOut& out) {
  assert(DatagramHead::kBytes + payload.size() <= kLargestDatagram);
  std::byte* const to = out.head.data();
  write_big_endian(kMagic, to);
  to[2] = static_cast<std::byte>(head.kind);
  to[3] = static_cast<std::byte>(flags_of(head));
  write_big_endian(check_of(head, payload), to + 4);
  write_big_endian(head.token, to + 8);
  write_big_endian(head.number, to + 16);
  write_big_endian(static_cast<std::uint16_t>(payload.size()), to + 24);
  const bool inside = payload.data() == to + DatagramHead::kBytes;
  out.head_size = DatagramHead::kBytes + (inside ? payload.size() : 0);
  out.tail = inside ? Bytes{} : payload;
}

void write_signal(const DatagramHead& head, DatagramOut& out, Bytes payload) {
  const std::size_t padding = head.kind == DatagramKind::join ? kJoinBytes - DatagramHead::kBytes : 0;
  std::byte* const behind = out.head.data() + DatagramHead::kBytes;
  std::ranges::copy(payload, behind);
  std::fill_n(behind + payload.size(), padding, std::byte{});
  write_datagram(head, {behind, payload.size() + padding}, out);
}

std::expected<Datagram, NoDatagram> parse_datagram(Bytes bytes) {
  if (bytes.size() < DatagramHead::kBytes) return std::unexpected(NoDatagram::truncated);
  const std::byte* const from = bytes.data();
  const auto kind = std::to_integer<unsigned>(from[2]), flags = std::to_integer<unsigned>(from[3]);
  const bool known = kind >= static_cast<unsigned>(DatagramKind::join) &&
                     kind <= static_cast<unsigned>(DatagramKind::left) &&
                     flags <= (kPacked | kKeepAlive | kUnknown | kGroup);
  if (read_big_endian<std::uint16_t>(from) != kMagic || !known) return std::unexpected(NoDatagram::foreign);
  Datagram datagram{.head = {.kind = static_cast<DatagramKind>(kind),
                             .packed = (flags & kPacked) != 0,
                             .keep_alive = (flags & kKeepAlive) != 0,
                             .unknown = (flags & kUnknown) != 0,
                             .group = (flags & kGroup) != 0,
                             .token = read_big_endian<std::uint64_t>(from + 8),
                             .number = read_big_endian<std::uint64_t>(from + 16)},
                    .payload = bytes.subspan(DatagramHead::kBytes)};
  if (datagram.payload.size() != read_big_endian<std::uint16_t>(from + 24) ||
      check_of(datagram.head, datagram.payload) != read_big_endian<std::uint32_t>(from + 4))
    return std::unexpected(NoDatagram::truncated);
  if (!is_well_formed(datagram)) return std::unexpected(NoDatagram::foreign);
  return datagram;
}

std::optional<Bytes> take_message(const DatagramHead& head, Bytes& payload) {
  if (payload.empty()) return std::nullopt;
  std::size_t before = 0, size = payload.size();
  if (head.packed) {
    if (payload.size() <= kPackedSizeBytes) return std::nullopt;
    before = kPackedSizeBytes;
    size = read_big_endian<std::uint16_t>(payload.data());
    if (size == 0 || size > payload.size() - before) return std::nullopt;
  }
  const Bytes message = payload.subspan(before, size);
  payload = payload.subspan(before + size);
  return message;
}

bool is_well_formed(const Datagram& datagram) {
  if (datagram.head.kind != DatagramKind::data) return is_padding_or_group(datagram);
  Bytes rest = datagram.payload;
  if (rest.empty()) return false;
  while (take_message(datagram.head, rest)) {
  }
  return rest.empty();
}

Admission::Answer Admission::answer(const DatagramHead& head, Bytes address, Time now) const {
  const DatagramHead no_such = unknown(head.token);
  if (head.kind == DatagramKind::data || head.kind == DatagramKind::leave) return {.reply = no_such};
  if (head.kind != DatagramKind::join) return {};
  if (head.keep_alive) return {.reply = no_such};
  const auto period = static_cast<std::uint64_t>(now.time_since_epoch() / kPeriod);
  const std::uint64_t current = cookie(head.token, address, period);
  if (head.number == current || head.number == cookie(head.token, address, period - 1))
    return {.admitted = true};
  return {.reply = DatagramHead{.kind = DatagramKind::challenge, .token = head.token, .number = current}};
}

// Returns the cookie. It is never 0, which means that the client has no cookie yet.
std::uint64_t Admission::cookie(std::uint64_t token, Bytes address, std::uint64_t period) const {
  std::array<std::byte, 24> message{};
  write_big_endian(token, message.data());
  write_big_endian(period, message.data() + 8);
  write_big_endian(keyed_hash(key_, address), message.data() + 16);
  return keyed_hash(key_, message) | 1;
}

std::uint64_t Admission::token(std::uint64_t number) const {
  std::array<std::byte, 8> message;
  write_big_endian(number, message.data());
  return keyed_hash(key_, message);
}

}  // namespace joust
