// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "joust/bytes.hpp"

namespace joust {

// Checks the records that an unknown peer sends a server, before the library gets them. As soon as the
// library has the first four bytes of a ClientHello it allocates the memory that they announce, up to 128
// KiB. The ClientHello of this program is shorter than a fortieth of that, and whole in one record.
class HelloGate {
 public:
  static constexpr std::size_t kLargestHello = 4 << 10;  // bytes after the head of the message

  // Returns how many of these bytes may be passed on. If they are fewer than all, the bytes after them are no
  // handshake of this program, and nothing more may be passed on from then on.
  std::size_t allowed(Bytes chunk);
  // True if the head of a ClientHello has arrived and is good.
  bool greeted() const { return greeted_; }

 private:
  static constexpr std::size_t kRecordHead = 5, kMessageHead = 4;

  std::size_t head_needed() const;
  bool is_allowed() const;     // checks the record whose head is complete
  std::size_t record() const;  // bytes of the record after its head

  std::array<std::byte, kRecordHead + kMessageHead> head_{};
  std::size_t size_ = 0;  // bytes in head_
  std::size_t left_ = 0;  // bytes of the record that are still to come
  bool refused_ = false;
  bool greeted_ = false;  // the first record has arrived
};

}  // namespace joust
