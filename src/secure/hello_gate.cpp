// SPDX-License-Identifier: MIT
#include "secure/hello_gate.hpp"

#include <algorithm>

namespace joust {
namespace {

constexpr std::byte kHandshake{22};  // the type of a record that is not encrypted
constexpr std::byte kClientHello{1};

}  // namespace

bool HelloGate::allows(Bytes chunk) {
  while (!chunk.empty() && !refused_) {
    std::size_t taken = std::min(left_, chunk.size());
    left_ -= taken;
    if (taken == 0) {
      taken = 1;
      head_[size_++] = chunk.front();
      if (size_ == head_needed()) {
        refused_ = !is_allowed();
        left_ = refused_ ? 0 : record() - (size_ - kRecordHead);
        size_ = 0;
        greeted_ = true;
      }
    }
    chunk = chunk.subspan(taken);
  }
  return !refused_;
}

std::size_t HelloGate::head_needed() const {
  return head_[0] == kHandshake ? kRecordHead + kMessageHead : kRecordHead;
}

// A server that wants another key share is greeted twice.
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
