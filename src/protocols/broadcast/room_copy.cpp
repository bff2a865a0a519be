// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.hpp"

namespace joust::broadcast {
namespace {

bool same(Bytes a, Bytes b) {
  return std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

RoomCopy::Known RoomCopy::known(Bytes chunk, std::uint32_t self, Position& position,
                                std::span<std::uint32_t> next) {
  const std::lock_guard lock(mutex_);
  if (position < first_) position = kUnknown;
  if (position == kUnknown || position == end()) return {};
  const Bytes copy = bytes_from(position);
  const std::size_t common = std::min(copy.size(), chunk.size());
  const std::uint64_t begin = begin_of(position);
  std::size_t others = 0;  // bytes up to the next message of the member itself
  for (Position each = position; each < end() && at(each).member != self && at(each).end - begin <= common;
       ++each)
    others = at(each).end - begin;
  const bool all_same = same(copy.first(others), chunk.first(others));
  Known known;
  for (; known.bytes < others; ++position, ++known.messages) {
    const Entry& entry = at(position);
    const std::size_t size = entry.end - begin - known.bytes;
    if (next[entry.member] != entry.number) break;
    if (!all_same && !same(copy.subspan(known.bytes, size), chunk.subspan(known.bytes, size))) break;
    ++next[entry.member];
    known.bytes += size;
  }
  return known;
}

RoomCopy::Position RoomCopy::checked(const Frame& frame, Bytes message, Position position) {
  const std::lock_guard lock(mutex_);
  if (position < first_) position = kUnknown;
  if (position == kUnknown && end() > 0) {  // the newest message of each member may be met again
    const Position after = newest_[frame.member];
    return after > first_ && at(after - 1).number == frame.number ? after : kUnknown;
  }
  if (position != kUnknown && position < end()) return holds(position, message) ? position + 1 : kUnknown;
  add(frame, message);
  return end();
}

bool RoomCopy::holds(Position position, Bytes message) const {
  const std::size_t size = at(position).end - begin_of(position);
  return size == kLengthBytes + message.size() &&
         same(bytes_from(position).subspan(kLengthBytes, message.size()), message);
}

void RoomCopy::add(const Frame& frame, Bytes message) {
  if (bytes_.size() + kLengthBytes + message.size() > kMostBytes) forget_half();
  std::array<std::byte, kLengthBytes> length;
  write_big_endian(static_cast<std::uint32_t>(message.size()), length.data());
  bytes_.insert(bytes_.end(), length.begin(), length.end());
  bytes_.insert(bytes_.end(), message.begin(), message.end());
  entries_.push_back({begin_ + bytes_.size(), frame.member, static_cast<std::uint32_t>(frame.number)});
  newest_[frame.member] = end();
}

void RoomCopy::forget_half() {
  const auto older = static_cast<std::ptrdiff_t>((entries_.size() + 1) / 2);
  const std::uint64_t begin = entries_[static_cast<std::size_t>(older) - 1].end;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin - begin_));
  entries_.erase(entries_.begin(), entries_.begin() + older);
  begin_ = begin;
  first_ += static_cast<Position>(older);
}

}  // namespace joust::broadcast
