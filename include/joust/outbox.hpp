// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/session.hpp"

namespace joust {

// A session's output bytes until they are released. Bytes shown by segments() do not move until then, so the
// kernel may read them while more are appended. An Outbox has no limit of its own: a session limits size() by
// returning Want::nothing. The first bytes are stored in the Outbox itself, so that connections with short
// replies allocate no block. One thread at a time.
class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Appends n contiguous bytes, which the caller must fill before the next call.
  std::span<std::byte> extend(std::size_t n);
  void append(Bytes bytes);  // copied
  void append(std::string_view text) { append(as_bytes(text)); }

  std::size_t size() const { return size_; }  // bytes not consumed yet
  bool empty() const { return size_ == 0; }

  // Like Session::output, consumed and released.
  std::size_t segments(std::span<Segment> into) const;
  void consumed(std::size_t n);
  void released(std::size_t n);

 private:
  static constexpr std::size_t kInside = 128;  // bytes

  // written >= consumed >= released
  struct Block {
    std::size_t capacity = 0;
    std::size_t written = 0;
    std::size_t consumed = 0;
    std::size_t released = 0;
    std::unique_ptr<std::byte[]> bytes{};

    bool done() const { return released == written; }
    void reset() { written = consumed = released = 0; }
  };

  Block& last() { return more_.empty() ? inside_ : more_.back(); }
  const std::byte* bytes_of(const Block& block) const {
    return &block == &inside_ ? room_.data() : block.bytes.get();
  }
  template <typename Step>
  void each_block(Step&& step);

  std::size_t size_ = 0;
  std::vector<Block> more_;              // after inside_, in order; only the last one has room
  Block inside_{.capacity = kInside};    // its bytes are room_
  std::array<std::byte, kInside> room_;  // uninitialized
};

}  // namespace joust
