// SPDX-License-Identifier: MIT
#include "connection/admission.hpp"

#include <algorithm>
#include <array>

#include "base/bytes.hpp"

namespace joust {

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
