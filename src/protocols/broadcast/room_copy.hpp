// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "joust/bytes.hpp"
#include "protocols/broadcast/protocol.hpp"

namespace joust::broadcast {

// The messages of a room in the order in which its server sends them, shared by the members of a load. The
// member that is ahead checks a message and adds it; the others compare what they receive with the copy, many
// messages at once. All of them have received the same messages up to their positions, so the copy knows
// which number each sender's next message has. Any thread.
//
// A server may give each member an order of its own. A member whose next message is not that of the copy
// leaves it for good, and so does one that is further behind than the copy reaches: it then has numbers of
// its own, and each of its messages is checked.
class RoomCopy {
 public:
  // `most_bytes`: kept, with the lengths of the messages, but for the newest message.
  explicit RoomCopy(std::size_t members, std::size_t most_bytes = 4 << 20)
      : most_bytes_(most_bytes), senders_(members) {}

  // How many messages a member has received, the old ones that are not kept included.
  using Position = std::uint64_t;

  // The messages at the beginning of a chunk that need no further check.
  struct Known {
    std::size_t bytes = 0, messages = 0;
  };

  // The messages of each sender that one member has received. One thread at a time. Must be destroyed before
  // the copy.
  class Reader {
   public:
    // A member that has received nothing yet. `follows`: its frames come as those of the copy.
    Reader(RoomCopy& copy, std::uint32_t self, bool follows);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Finds whole messages of others at the beginning of `chunk`, where a message begins, and takes them as
    // received.
    Known known(Bytes chunk);
    // Returns the number that the next message of this sender must have.
    std::uint32_t expected(std::uint32_t sender) const;
    // Takes a message as received: it has the expected number, and the bytes its sender gave it.
    void checked(const Frame& frame, Bytes message);

    bool follows() const { return follows_.load(std::memory_order_acquire); }

   private:
    friend class RoomCopy;

    RoomCopy& copy_;
    const std::uint32_t self_;
    // Protected by the copy's mutex while the member follows, and then its own:
    Position position_ = 0;
    std::vector<std::uint32_t> next_;  // the expected numbers, once it does not follow
    std::atomic<bool> follows_{false};
  };

 private:
  struct Entry {
    std::uint64_t end;  // in the stream of the copy
    Position previous;  // the position behind the sender's previous message; 0: none
    std::uint32_t sender, number;
  };
  struct Sender {
    Position newest = 0;     // the position behind its newest message; 0: none
    std::uint32_t next = 0;  // the number after that one
  };

  Position end() const { return first_ + entries_.size(); }
  const Entry& at(Position position) const { return entries_[position - first_]; }
  std::uint64_t begin_of(Position position) const {
    return position == first_ ? begin_ : at(position - 1).end;
  }
  const std::byte* bytes_at(Position position) const { return bytes_.data() + (begin_of(position) - begin_); }
  Position next_of(std::uint32_t sender, Position position) const;
  std::uint32_t expected(std::uint32_t sender, Position position) const;
  Position whole(Position position, Position last, std::size_t bytes) const;
  bool holds(Position position, Bytes message) const;
  void leave(Reader& reader) const;
  void add(const Frame& frame, Bytes message);
  void forget_half();

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::byte> bytes_;  // of the messages that are kept, with their lengths
  std::vector<Entry> entries_;
  std::uint64_t begin_ = 0;  // of bytes_
  Position first_ = 0;       // of entries_
  std::vector<Sender> senders_;
  std::vector<Reader*> followers_;
};

}  // namespace joust::broadcast
