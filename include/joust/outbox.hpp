// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/session.hpp"

namespace joust {

// The bytes a session has written and the peer has not got yet. What has been shown by segments() never moves
// until it is released, so a kernel may read from it while more is appended. Sessions keep size() bounded by
// asking for nothing more (Session::want) at their limit; an Outbox itself takes whatever it is given.
class Outbox {
 public:
  // Room for exactly n contiguous bytes, to be written by the caller before the next call.
  std::span<std::byte> extend(std::size_t n);
  void append(Bytes bytes);
  void append(std::string_view text) { append(as_bytes(text)); }

  std::size_t size() const { return size_; }  // bytes not consumed yet
  bool empty() const { return size_ == 0; }

  // The contract of Session::output, consumed and released.
  std::size_t segments(std::span<Segment> into) const;
  void consumed(std::size_t n);
  void released(std::size_t n);

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t capacity = 0;
    std::size_t written = 0;
    std::size_t consumed = 0;
    std::size_t released = 0;
  };

  std::vector<Block> blocks_;  // in order; the last one is written to
  std::size_t size_ = 0;
};

}  // namespace joust
