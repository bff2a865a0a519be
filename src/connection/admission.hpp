// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "base/keyed_hash.hpp"
#include "connection/datagram.hpp"
#include "joust/time.hpp"

namespace joust {

// How a server treats datagrams of no connection that it has. It keeps nothing for a stranger: the cookie
// that a stranger has to send back is computed again from its address and token. So an address that somebody
// else has forged costs no memory, and gets no more bytes than it has sent. No answer is itself answered, so
// two servers, or a server and itself, cannot keep each other busy. It makes no system call. One thread.
class Admission {
 public:
  explicit Admission(const HashKey& key) : key_(key) {}

  // What is said to whoever has no connection, or has none any more.
  static DatagramHead unknown(std::uint64_t token) {
    return {.kind = DatagramKind::left, .unknown = true, .token = token};
  }

  struct Answer {
    bool admitted = false;                // a connection is to be made, and to answer
    std::optional<DatagramHead> reply{};  // or this is to be sent; or neither, and it is foreign
  };
  // `address`: the bytes that tell the sender from others.
  Answer answer(const DatagramHead& head, Bytes address, Time now) const;

  // A value that nobody else can guess, another one for each number.
  std::uint64_t token(std::uint64_t number) const;

  // Cookies are valid for one to two periods.
  static constexpr Duration kPeriod = std::chrono::seconds(30);

 private:
  std::uint64_t cookie(std::uint64_t token, Bytes address, std::uint64_t period) const;

  HashKey key_;
};

}  // namespace joust
