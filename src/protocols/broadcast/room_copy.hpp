// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "joust/bytes.hpp"
#include "protocols/broadcast/protocol.hpp"

namespace joust::broadcast {

// The messages of a room in the order in which its server sends them, shared by the members of a load. The
// member that is ahead checks a message and adds it; the others compare what they receive with the copy, many
// messages at once. A server may give each member an order of its own: its members find no position in the
// copy, and check each message. Any thread.
class RoomCopy {
 public:
  // How many messages of the copy a member has received, the old ones that are not kept included.
  using Position = std::uint64_t;
  static constexpr Position kUnknown = UINT64_MAX;

  explicit RoomCopy(std::size_t members) : newest_(members) {}

  // The messages at the beginning of a chunk that need no further check.
  struct Known {
    std::size_t bytes = 0, messages = 0;
  };
  // Where a member is in the copy. A server that gives each member an order of its own would have it look for
  // its place in vain.
  class Reader {
   public:
    explicit Reader(RoomCopy& copy) : copy_(copy) {}
    Known known(Bytes chunk, std::uint32_t self, std::span<std::uint32_t> next) {
      if (position_ == kUnknown) return {};
      const Known known = copy_.known(chunk, self, position_, next);
      if (position_ == kUnknown) ++lost_;
      return known;
    }
    void checked(const Frame& frame, Bytes message) {
      if (lost_ >= kMostLost || misses_ >= kMostMisses) return;
      const bool had_position = position_ != kUnknown;
      position_ = copy_.checked(frame, message, position_);
      if (had_position && position_ == kUnknown) ++lost_;
      misses_ = position_ == kUnknown ? misses_ + 1 : 0;
    }

   private:
    static constexpr unsigned kMostLost = 16, kMostMisses = 100'000;

    RoomCopy& copy_;
    Position position_ = kUnknown;
    unsigned lost_ = 0;    // how often it had a position and lost it
    unsigned misses_ = 0;  // messages in a row without a position
  };

  // Finds messages of others at the beginning of `chunk`, and moves `position` and `next`, the numbers that
  // are expected of each member, beyond them.
  Known known(Bytes chunk, std::uint32_t self, Position& position, std::span<std::uint32_t> next);

  // Takes a message that a member has checked at its position. Returns its next position; kUnknown if the
  // copy goes on with another message.
  Position checked(const Frame& frame, Bytes message, Position position);

 private:
  struct Entry {
    std::uint64_t end;  // in the stream of the copy
    std::uint32_t member, number;
  };

  Position end() const { return first_ + entries_.size(); }
  const Entry& at(Position position) const { return entries_[position - first_]; }
  std::uint64_t begin_of(Position position) const {
    return position == first_ ? begin_ : at(position - 1).end;
  }
  Bytes bytes_from(Position position) const { return Bytes(bytes_).subspan(begin_of(position) - begin_); }
  bool holds(Position position, Bytes message) const;
  void add(const Frame& frame, Bytes message);
  void forget_half();

  static constexpr std::size_t kMostBytes = 4 << 20;

  std::mutex mutex_;
  std::vector<std::byte> bytes_;  // of the messages that are kept, with their lengths
  std::vector<Entry> entries_;
  std::uint64_t begin_ = 0;       // of bytes_
  Position first_ = 0;            // of entries_
  std::vector<Position> newest_;  // for each member: the position after its newest message; 0: none
};

}  // namespace joust::broadcast
