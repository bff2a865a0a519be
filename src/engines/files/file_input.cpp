// SPDX-License-Identifier: MIT
#include "engines/files/file_input.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace joust {

std::size_t FileRing::wanted(const StreamConnection& connection) const {
  const auto range = connection.store();
  const bool by_ring = range && range->file->filling() == Filling::ring;
  return by_ring ? std::min<std::uint64_t>(range->size, size_) : 0;
}

// Returns `size` bytes from `begin` on; the second piece may be empty.
FileRing::Pieces FileRing::pieces(std::size_t begin, std::size_t size) {
  const std::size_t first = std::min(size, size_ - begin);
  return {std::span(memory_.get() + begin, first), std::span(memory_.get(), size - first)};
}

ssize_t FileRing::fill(int socket, std::size_t most) {
  if (!memory_) memory_ = std::make_unique_for_overwrite<std::byte[]>(size_);
  held_ = 0;  // an exception may have left another connection's bytes
  std::array<iovec, 2> parts{};
  const Pieces free = pieces(begin_, most);
  for (std::size_t i = 0; i < free.size(); ++i) parts[i] = {free[i].data(), free[i].size()};
  const ssize_t n = ::readv(socket, parts.data(), free[1].empty() ? 1 : 2);
  if (n > 0) held_ = static_cast<std::size_t>(n);
  return n;
}

void FileRing::empty(StreamConnection& connection, Time now) {
  while (held_ > 0) {
    if (const auto range = connection.store())
      store(connection, *range, now);
    else
      hand_on(connection, now);
  }
}

// The session sees the bytes piece by piece, and may want the second piece elsewhere.
void FileRing::store(StreamConnection& connection, const FileRange& range, Time now) {
  const Pieces held = pieces(begin_, std::min<std::uint64_t>(held_, range.size));
  const std::array<Bytes, 2> bytes{held[0], held[1]};
  const auto written =
      range.file->write_pieces_at(range.offset, std::span(bytes).first(held[1].empty() ? 1 : 2));
  if (!written) return connection.store_failed(written.error(), now);
  const Bytes first = bytes[0].first(std::min(*written, bytes[0].size()));
  store_piece(connection, first, now);
  const Bytes second = bytes[1].first(*written - first.size());
  if (second.empty()) return;
  const auto next = connection.store();
  if (next && next->file == range.file && next->offset == range.offset + first.size())
    store_piece(connection, second, now);
}

void FileRing::store_piece(StreamConnection& connection, Bytes piece, Time now) {
  drop(piece.size());  // the memory stays as it is until the next fill()
  connection.stored(piece.size(), piece, now);
}

void FileRing::hand_on(StreamConnection& connection, Time now) {
  const Bytes piece = pieces(begin_, held_)[0];
  drop(piece.size());
  // a connection that has ended gets no more input
  if (!connection.ended()) connection.received(piece, now);
}

void FileRing::drop(std::size_t n) {
  begin_ = (begin_ + n) % size_;
  held_ -= n;
}

std::size_t FileInput::wanted_by_files(const StreamConnection& connection) {
  const std::size_t into_ring = ring_.wanted(connection);
  by_ring_ = into_ring > 0;
  return by_ring_ ? into_ring : pipe_.wanted(connection);
}

bool FileInput::receive_ready(int socket, StreamConnection& connection, std::size_t most, bool end_is_near,
                              Time now) {
  const auto filled = fill(socket, most);
  if (!filled) return true;  // from now on wanted() returns 0
  const int error = errno;
  if (*filled > 0)
    empty(connection, now);
  else if (*filled == 0)
    connection.peer_finished(now);
  else if (error == EINTR)
    return true;
  else if (error != EAGAIN && error != EWOULDBLOCK)
    connection.failed({Stage::receive, error, {}}, now);
  if (*filled <= 0) return false;
  // A pipe that is short of room takes less than the socket has.
  return !by_ring_ || end_is_near || static_cast<std::size_t>(*filled) == most;
}

std::optional<ssize_t> FileInput::fill(int socket, std::size_t most) {
  return by_ring_ ? ring_.fill(socket, most) : pipe_.fill(socket, most);
}

void FileInput::empty(StreamConnection& connection, Time now) {
  if (by_ring_)
    ring_.empty(connection, now);
  else
    pipe_.empty(connection, now);
}

}  // namespace joust
