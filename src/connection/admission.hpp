// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "connection/datagram.hpp"
#include "joust/time.hpp"

namespace joust {

// A server's answers to datagrams of unknown connections. The server stores nothing for an unknown sender:
// the cookie that the sender has to send back is computed again from its address and token. So a forged
// address costs no memory, and gets no more bytes than it has sent. An answer is never itself answered, so
// two servers, or a server and itself, cannot keep each other busy. It makes no system call. One thread.
class Admission {
 public:
  explicit Admission(const HashKey& key) : key_(key) {}

  // Returns the answer to a sender without a connection, or whose connection has ended.
  static DatagramHead unknown(std::uint64_t token) {
    return {.kind = DatagramKind::left, .unknown = true, .token = token};
  }

  struct Answer {
    bool admitted = false;                // a connection is to be made, which answers
    std::optional<DatagramHead> reply{};  // the datagram to send; without both, the datagram is foreign
  };
  // Answers a datagram. `address`: the bytes that distinguish the sender from others.
  Answer answer(const DatagramHead& head, Bytes address, Time now) const;

  // Returns a value that cannot be guessed, a different one for each number.
  std::uint64_t token(std::uint64_t number) const;

  // Cookies are valid for one to two periods.
  static constexpr Duration kPeriod = std::chrono::seconds(30);

 private:
  std::uint64_t cookie(std::uint64_t token, Bytes address, std::uint64_t period) const;

  HashKey key_;
};

}  // namespace joust
