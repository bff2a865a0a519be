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

// The bytes that a session has written, until they are released. Bytes that segments() has shown never move
// until then, so a kernel may read them while more is appended. An Outbox takes whatever it is given: a
// session bounds size() by wanting nothing more (Session::want) at its limit. Short replies lie in the Outbox
// itself, beside the session that wrote them, so that thousands of connections need no block of memory each.
// One thread at a time.
class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Appends n contiguous bytes, which the caller writes before the next call.
  std::span<std::byte> extend(std::size_t n);
  void append(Bytes bytes);  // copied
  void append(std::string_view text) { append(as_bytes(text)); }

  std::size_t size() const { return size_; }  // bytes not consumed yet
  bool empty() const { return size_ == 0; }

  // The contract of Session::output, consumed and released.
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
  std::vector<Block> more_;              // behind inside_, in order; the last one is written to
  Block inside_{.capacity = kInside};    // its bytes are room_
  std::array<std::byte, kInside> room_;  // uninitialized
};

}  // namespace joust
