// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "connection/backoff.hpp"
#include "connection/datagram.hpp"
#include "joust/time.hpp"

namespace joust {

// A client's handshake for a connection: asks the server until it has agreed. It makes no system call and has
// no limit: its owner gives up. One thread.
class Joining {
 public:
  // The token must be impossible to guess.
  Joining(std::uint64_t token, Time now)
      : token_(token), pauses_(kFirstPause, kLongestPause, token), due_(now) {}

  Time due() const { return due_; }  // when a join is to be sent
  bool output(DatagramOut& out, Time now) const {
    if (now < due_) return false;
    write_signal({.kind = DatagramKind::join, .token = token_, .number = cookie_}, out);
    return true;
  }
  void sent(Time now) { due_ = now + pauses_.next(); }

  // Returns true when the server has agreed. Other datagrams are ignored.
  bool received(const DatagramHead& head, Time now) {
    if (head.token != token_) return false;
    if (head.kind == DatagramKind::challenge && cookie_ != head.number) {
      cookie_ = head.number;
      due_ = now;
      pauses_.restart();
    }
    return head.kind == DatagramKind::joined && cookie_ != 0;
  }

  std::uint64_t token() const { return token_; }
  std::uint64_t cookie() const { return cookie_; }

 private:
  // Pauses longer than a round trip on any network that loads are run on, and short beside the connect limit.
  static constexpr Duration kFirstPause = std::chrono::milliseconds(100);
  static constexpr Duration kLongestPause = std::chrono::seconds(1);

  std::uint64_t token_;
  std::uint64_t cookie_ = 0;
  Backoff pauses_;
  Time due_;
};

}  // namespace joust
