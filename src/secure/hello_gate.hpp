// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "joust/bytes.hpp"

namespace joust {

// Looks at the records that a stranger sends a server, before the library does. As soon as the library has
// the first four bytes of a ClientHello it takes the memory that they announce, up to 128 KiB; ours are
// shorter than a fortieth of that, and whole in one record.
class HelloGate {
 public:
  static constexpr std::size_t kLargestHello = 4 << 10;  // bytes, behind the head of the message

  // How many of these bytes may be passed on. Fewer than all: what comes behind them is no handshake of ours,
  // and nothing more may be passed on, from then on.
  std::size_t allowed(Bytes chunk);
  // The head of a greeting has come, and is good.
  bool greeted() const { return greeted_; }

 private:
  static constexpr std::size_t kRecordHead = 5, kMessageHead = 4;

  std::size_t head_needed() const;
  bool is_allowed() const;     // the record whose head is complete
  std::size_t record() const;  // bytes behind its head

  std::array<std::byte, kRecordHead + kMessageHead> head_{};
  std::size_t size_ = 0;  // of head_
  std::size_t left_ = 0;  // of the record
  bool refused_ = false;
  bool greeted_ = false;  // its first record has come
};

}  // namespace joust
