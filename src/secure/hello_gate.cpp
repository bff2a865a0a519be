// SPDX-License-Identifier: MIT
#include "secure/hello_gate.hpp"

#include <algorithm>

namespace joust {
namespace {

constexpr std::byte kHandshake{22};  // the type of a record that is not encrypted
constexpr std::byte kClientHello{1};

}  // namespace

// Passes a head on without its last byte until the head is found good: so far it announces nothing to the
// library.
std::size_t HelloGate::allowed(Bytes chunk) {
  std::size_t at = 0;
  while (at < chunk.size() && !refused_) {
    if (const std::size_t rest = std::min(left_, chunk.size() - at); rest > 0) {
      left_ -= rest;
      at += rest;
      continue;
    }
    head_[size_++] = chunk[at];
    if (size_ == head_needed()) {
      refused_ = !is_allowed();
      if (refused_) break;
      left_ = record() - (size_ - kRecordHead);
      size_ = 0;
      greeted_ = true;
    }
    ++at;
  }
  return at;
}

std::size_t HelloGate::head_needed() const {
  return head_[0] == kHandshake ? kRecordHead + kMessageHead : kRecordHead;
}

// Allows a second ClientHello: a server that wants another key share gets two.
bool HelloGate::is_allowed() const {
  if (head_[0] != kHandshake) return greeted_;
  const auto hello = std::to_integer<std::size_t>(head_[6]) << 16 |
                     std::to_integer<std::size_t>(head_[7]) << 8 | std::to_integer<std::size_t>(head_[8]);
  return head_[5] == kClientHello && hello <= kLargestHello && record() == kMessageHead + hello;
}

std::size_t HelloGate::record() const {
  return std::to_integer<std::size_t>(head_[3]) << 8 | std::to_integer<std::size_t>(head_[4]);
}

}  // namespace joust
