// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.hpp"

namespace joust::broadcast {

RoomCopy::Reader::Reader(RoomCopy& copy, std::uint32_t self, bool follows) : copy_(copy), self_(self) {
  const std::lock_guard lock(copy.mutex_);
  follows_ = follows && copy.first_ == 0;
  if (follows_)
    copy.followers_.push_back(this);
  else
    next_.resize(copy.senders_.size());
}

RoomCopy::Reader::~Reader() {
  const std::lock_guard lock(copy_.mutex_);
  std::erase(copy_.followers_, this);
}

RoomCopy::Known RoomCopy::Reader::known(Bytes chunk) {
  if (!follows()) return {};
  const std::lock_guard lock(copy_.mutex_);
  if (!follows() || position_ == copy_.end()) return {};
  const std::byte* const copied = copy_.bytes_at(position_);
  Position last = copy_.whole(position_, copy_.next_of(self_, position_), chunk.size());
  const std::uint64_t begin = copy_.begin_of(position_);
  std::size_t bytes = copy_.begin_of(last) - begin;
  if (std::memcmp(copied, chunk.data(), bytes) != 0) {
    const std::byte* const different = std::mismatch(copied, copied + bytes, chunk.data()).first;
    last = copy_.whole(position_, last, static_cast<std::size_t>(different - copied));
    bytes = copy_.begin_of(last) - begin;
  }
  const Known known{.bytes = bytes, .messages = last - position_};
  position_ = last;
  return known;
}

std::uint32_t RoomCopy::Reader::expected(std::uint32_t sender) const {
  if (follows()) {
    const std::lock_guard lock(copy_.mutex_);
    if (follows()) return copy_.expected(sender, position_);
  }
  return next_[sender];
}

void RoomCopy::Reader::checked(const Frame& frame, Bytes message) {
  if (follows()) {
    const std::lock_guard lock(copy_.mutex_);
    if (follows() && position_ == copy_.end()) copy_.add(frame, message);
    if (follows() && copy_.holds(position_, message)) {
      ++position_;
      return;
    }
    if (follows()) {
      copy_.leave(*this);
      std::erase(copy_.followers_, this);
    }
  }
  ++next_[frame.member];
}

// Returns the position of the sender's next message; end() if it is not known. Looks from both ends: a sender
// may have many messages ahead, or its next one may be far.
RoomCopy::Position RoomCopy::next_of(std::uint32_t sender, Position position) const {
  Position next = end();
  for (Position behind = senders_[sender].newest; behind > position; behind = at(behind - 1).previous) {
    if (at(position).sender == sender) return position;
    ++position;
    next = behind - 1;
  }
  return next;
}

std::uint32_t RoomCopy::expected(std::uint32_t sender, Position position) const {
  const Position next = next_of(sender, position);
  return next == end() ? senders_[sender].next : at(next).number;
}

// Returns the position up to which messages from `position` on, and before `last`, are whole in so many
// bytes.
RoomCopy::Position RoomCopy::whole(Position position, Position last, std::size_t bytes) const {
  const std::uint64_t end = begin_of(position) + bytes;
  if (begin_of(last) <= end) return last;
  const auto entry = [this](Position of) {
    return entries_.begin() + static_cast<std::ptrdiff_t>(of - first_);
  };
  const auto cut = std::ranges::upper_bound(entry(position), entry(last), end, {}, &Entry::end);
  return first_ + static_cast<Position>(cut - entries_.begin());
}

bool RoomCopy::holds(Position position, Bytes message) const {
  const std::size_t size = at(position).end - begin_of(position);
  return size == kLengthBytes + message.size() &&
         std::memcmp(bytes_at(position) + kLengthBytes, message.data(), message.size()) == 0;
}

// Gives a member numbers of its own. It is still in followers_.
void RoomCopy::leave(Reader& reader) const {
  reader.next_.resize(senders_.size());
  for (std::uint32_t sender = 0; sender < senders_.size(); ++sender)
    reader.next_[sender] = expected(sender, reader.position_);
  reader.follows_.store(false, std::memory_order_release);
}

void RoomCopy::add(const Frame& frame, Bytes message) {
  if (bytes_.size() + kLengthBytes + message.size() > most_bytes_ && !entries_.empty()) forget_half();
  std::array<std::byte, kLengthBytes> length;
  write_big_endian(static_cast<std::uint32_t>(message.size()), length.data());
  bytes_.insert(bytes_.end(), length.begin(), length.end());
  bytes_.insert(bytes_.end(), message.begin(), message.end());
  Sender& sender = senders_[frame.member];
  entries_.push_back({.end = begin_ + bytes_.size(),
                      .previous = sender.newest,
                      .sender = frame.member,
                      .number = sender.next});
  sender = {.newest = end(), .next = sender.next + 1};
}

void RoomCopy::forget_half() {
  const auto older = static_cast<std::ptrdiff_t>((entries_.size() + 1) / 2);
  const Position first = first_ + static_cast<Position>(older);
  std::erase_if(followers_, [this, first](Reader* reader) {
    if (reader->position_ >= first) return false;
    leave(*reader);
    return true;
  });
  const std::uint64_t begin = begin_of(first);
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin - begin_));
  entries_.erase(entries_.begin(), entries_.begin() + older);
  begin_ = begin;
  first_ = first;
}

}  // namespace joust::broadcast
