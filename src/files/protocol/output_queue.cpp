// SPDX-License-Identifier: MIT
#include "files/protocol/output_queue.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace joust::file {
namespace {

constexpr std::array<std::byte, 64 << 10> kZeros{};

}  // namespace

void OutputQueue::add(Piece piece) {
  waiting_ += piece.size;
  files_ += piece.file != nullptr;
  piece.answer = answer_;
  pieces_.push_back(std::move(piece));
}

OutputQueue::Piece OutputQueue::piece_of(const Message& message) {
  auto bytes = encode(message);
  const std::size_t size = bytes.size();
  return {.bytes = std::move(bytes), .size = size, .request = message.request};
}

std::uint64_t OutputQueue::message(const Message& message) {
  Piece piece = piece_of(message);
  const std::uint64_t check = check_of(piece.bytes);
  add(std::move(piece));
  return check;
}

void OutputQueue::bytes(std::uint32_t request, std::vector<std::byte> bytes, std::uint64_t of_files) {
  const std::size_t size = bytes.size();
  add({.bytes = std::move(bytes), .size = size, .of_files = of_files, .request = request});
}

void OutputQueue::data(std::uint32_t request, const std::shared_ptr<File>& file, ByteRange range) {
  assert(range.size > 0 && range.size <= kLargestData);
  message({request, Data{static_cast<std::uint32_t>(range.size)}});
  add({.file = file, .offset = range.offset, .size = range.size, .request = request});
}

ByteRange OutputQueue::data_ahead(std::uint32_t request, const std::shared_ptr<File>& file, ByteRange range) {
  while (range.size > 0 && has_room()) {
    const std::uint64_t part = std::min<std::uint64_t>(range.size, kLargestData);
    data(request, file, {range.offset, part});
    range = {range.offset + part, range.size - part};
  }
  return range;
}

bool OutputQueue::source_failed(const FileRefusal& refusal) {
  assert(first_ < pieces_.size() && pieces_[first_].file);
  Piece& failed = pieces_[first_];
  const std::uint64_t answer = failed.answer;
  const std::uint32_t request = failed.request;
  Piece zeros{.size = failed.size - failed.consumed, .request = request, .answer = answer};
  Piece error = piece_of({request, Error{refusal}});
  error.answer = answer;

  failed.size = failed.consumed;  // its consumed bytes may still be in use
  const auto behind = pieces_.begin() + static_cast<std::ptrdiff_t>(first_) + (failed.size > 0 ? 1 : 0);
  first_ = static_cast<std::size_t>(behind - pieces_.begin());
  const auto others = std::find_if(behind, pieces_.end(), [&](const Piece& p) { return p.answer != answer; });
  files_ -= static_cast<std::size_t>(
      std::count_if(behind, others, [](const Piece& piece) { return piece.file != nullptr; }));
  const auto at = pieces_.erase(behind, others);
  pieces_.insert(pieces_.insert(at, std::move(error)), std::move(zeros));
  waiting_ = 0;
  for (std::size_t i = first_; i < pieces_.size(); ++i) waiting_ += pieces_[i].size - pieces_[i].consumed;
  return answer == answer_;
}

Segment OutputQueue::Piece::rest() const {
  if (!bytes.empty()) return {.bytes = Bytes(bytes).subspan(consumed)};
  const std::uint64_t left = size - consumed;
  if (!file) return {.bytes = Bytes(kZeros).first(std::min<std::uint64_t>(left, kZeros.size()))};
  if (const Bytes there = file->mapped(offset + consumed, left); !there.empty()) return {.bytes = there};
  return {.file = {file.get(), offset + consumed, left}};
}

std::size_t OutputQueue::segments(std::span<Segment> into) const {
  std::size_t filled = 0;
  for (std::size_t i = first_; i < pieces_.size() && filled < into.size(); ++i) {
    into[filled] = pieces_[i].rest();
    const bool whole = into[filled].size() == pieces_[i].size - pieces_[i].consumed;
    ++filled;
    if (!whole) break;
  }
  return filled;
}

bool OutputQueue::sends_file() const {
  return std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(first_), pieces_.end(),
                     [](const Piece& piece) { return piece.file != nullptr || piece.of_files > 0; });
}

std::uint64_t OutputQueue::consumed(std::size_t n) {
  assert(n <= waiting_);
  std::uint64_t of_files = 0;
  waiting_ -= n;
  while (n > 0) {
    Piece& piece = pieces_[first_];
    const std::uint64_t part = std::min<std::uint64_t>(n, piece.size - piece.consumed);
    piece.consumed += part;
    n -= part;
    if (piece.file) of_files += part;
    if (piece.consumed < piece.size) continue;
    of_files += piece.of_files;
    ++first_;
  }
  return of_files;
}

void OutputQueue::released(std::size_t n) {
  while (n > 0) {
    Piece& piece = pieces_.front();
    const std::uint64_t part = std::min<std::uint64_t>(n, piece.size - piece.released);
    piece.released += part;
    n -= part;
    if (piece.released < piece.size) return;
    files_ -= piece.file != nullptr;
    pieces_.pop_front();
    --first_;
  }
}

}  // namespace joust::file
