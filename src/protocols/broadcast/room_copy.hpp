// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "joust/bytes.hpp"
#include "protocols/broadcast/wire.hpp"

namespace joust::broadcast {

// The messages of a room in the order in which its server sends them, shared by the members of a load. The
// member that is ahead checks a message and adds it; the others compare what they receive with the copy, many
// messages at once. A server may give each member an order of its own: its members find no place in the copy,
// and check each message. Any thread.
class RoomCopy {
 public:
  // How many messages of the copy a member has received, the old ones that are not kept included.
  using Place = std::uint64_t;
  static constexpr Place kNowhere = UINT64_MAX;

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
      if (place_ == kNowhere) return {};
      const Known known = copy_.known(chunk, self, place_, next);
      if (place_ == kNowhere) ++lost_;
      return known;
    }
    void checked(const Frame& frame, Bytes message) {
      if (lost_ >= kMostLost || in_vain_ >= kMostInVain) return;
      const bool had_place = place_ != kNowhere;
      place_ = copy_.checked(frame, message, place_);
      if (had_place && place_ == kNowhere) ++lost_;
      in_vain_ = place_ == kNowhere ? in_vain_ + 1 : 0;
    }

   private:
    static constexpr unsigned kMostLost = 16, kMostInVain = 100'000;

    RoomCopy& copy_;
    Place place_ = kNowhere;
    unsigned lost_ = 0;     // how often it had a place and lost it
    unsigned in_vain_ = 0;  // messages in a row without a place
  };

  // Finds messages of others at the beginning of `chunk`, and moves `place` and `next`, the numbers that are
  // expected of each member, beyond them.
  Known known(Bytes chunk, std::uint32_t self, Place& place, std::span<std::uint32_t> next);

  // Takes a message that a member has checked at its place. Returns its next place; kNowhere if the copy goes
  // on with another message.
  Place checked(const Frame& frame, Bytes message, Place place);

 private:
  struct Entry {
    std::uint64_t end;  // in the stream of the copy
    std::uint32_t member, number;
  };

  Place end() const { return first_ + entries_.size(); }
  const Entry& at(Place place) const { return entries_[place - first_]; }
  std::uint64_t begin_of(Place place) const { return place == first_ ? begin_ : at(place - 1).end; }
  Bytes bytes_from(Place place) const { return Bytes(bytes_).subspan(begin_of(place) - begin_); }
  bool holds(Place place, Bytes message) const;
  void add(const Frame& frame, Bytes message);
  void forget_half();

  static constexpr std::size_t kMostBytes = 4 << 20;

  std::mutex mutex_;
  std::vector<std::byte> bytes_;  // of the messages that are kept, with their lengths
  std::vector<Entry> entries_;
  std::uint64_t begin_ = 0;    // of bytes_
  Place first_ = 0;            // of entries_
  std::vector<Place> newest_;  // for each member: the place after its newest message; 0: none
};

}  // namespace joust::broadcast
