// SPDX-License-Identifier: MIT
#include "joust/outbox.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace joust {
namespace {

// The first block is small, because most of thousands of connections hold one short reply at a time.
constexpr std::size_t kFirstBlock = 1 << 10;
constexpr std::size_t kLargestBlock = 64 << 10;

}  // namespace

std::span<std::byte> Outbox::extend(std::size_t n) {
  if (blocks_.empty() || blocks_.back().capacity - blocks_.back().written < n) {
    const std::size_t next = blocks_.empty() ? kFirstBlock : blocks_.back().capacity * 2;
    const std::size_t capacity = std::max(n, std::min(next, kLargestBlock));
    blocks_.push_back(
        Block{.bytes = std::make_unique_for_overwrite<std::byte[]>(capacity), .capacity = capacity});
  }
  Block& block = blocks_.back();
  const std::span<std::byte> room(block.bytes.get() + block.written, n);
  block.written += n;
  size_ += n;
  return room;
}

void Outbox::append(Bytes bytes) {
  if (bytes.empty()) return;
  std::memcpy(extend(bytes.size()).data(), bytes.data(), bytes.size());
}

std::size_t Outbox::segments(std::span<Segment> into) const {
  std::size_t filled = 0;
  for (const Block& block : blocks_) {
    if (filled == into.size()) break;
    if (block.consumed == block.written) continue;
    into[filled++].bytes = {block.bytes.get() + block.consumed, block.written - block.consumed};
  }
  return filled;
}

void Outbox::consumed(std::size_t n) {
  assert(n <= size_);
  size_ -= n;
  for (auto block = blocks_.begin(); n > 0; ++block) {
    const std::size_t part = std::min(n, block->written - block->consumed);
    block->consumed += part;
    n -= part;
  }
}

void Outbox::released(std::size_t n) {
  for (auto block = blocks_.begin(); n > 0; ++block) {
    const std::size_t part = std::min(n, block->consumed - block->released);
    block->released += part;
    n -= part;
  }
  // Blocks nobody refers to go, but for a last one of ordinary size, which is written to again from its
  // start.
  const auto live = std::ranges::find_if(blocks_, [](const Block& b) { return b.released < b.written; });
  const bool keep_last =
      live == blocks_.end() && !blocks_.empty() && blocks_.back().capacity <= kLargestBlock;
  blocks_.erase(blocks_.begin(), keep_last ? blocks_.end() - 1 : live);
  if (keep_last) blocks_.back().written = blocks_.back().consumed = blocks_.back().released = 0;
}

}  // namespace joust
