// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "connection/datagram.hpp"
#include "connection/received_numbers.hpp"

// A server's output that is sent once for all its peers, if the transport can do it: datagrams of data with a
// token and with numbers of their own. A client receives the token and the next number when it is admitted,
// and at the end the count of these datagrams.
namespace joust {

// The group on the server's side.
struct MessageGroup {
  std::uint64_t token = 0;
  std::uint64_t sent = 0;  // datagrams so far
  bool drains = false;  // its last datagrams are being sent: `leave` and `left`, which have the count, wait

  std::array<std::byte, kGroupPlaceBytes> place() const {
    std::array<std::byte, kGroupPlaceBytes> bytes;
    write_big_endian(token, bytes.data());
    write_big_endian(sent, bytes.data() + kGroupPlaceBytes - kGroupCountBytes);
    return bytes;
  }
};

// The group on a client's side. Datagrams sent before the client was admitted do not count.
class HeardGroup {
 public:
  explicit HeardGroup(Bytes place)
      : token_(read_big_endian<std::uint64_t>(place.data())),
        first_(read_big_endian<std::uint64_t>(place.data() + kGroupPlaceBytes - kGroupCountBytes)) {}

  bool sends(const DatagramHead& head) const {
    return head.kind == DatagramKind::data && head.token == token_;
  }
  bool is_earlier(const DatagramHead& head) const { return head.number < first_; }
  std::uint64_t number_of(const DatagramHead& head) const { return head.number - first_; }
  void announce(Bytes count) {
    const auto all = read_big_endian<std::uint64_t>(count.data());
    if (all > first_) numbers.announce(all - first_);
  }

  ReceivedNumbers numbers;

 private:
  std::uint64_t token_, first_;
};

}  // namespace joust
