// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"
#include "protocols/script/expression.hpp"

namespace joust::script {

inline constexpr std::size_t kLargestMessage = 1 << 20;  // bytes, boundaries included

// A part of a reply: some bytes at a place, or the first group of a regular expression. Any thread.
class ReplyPart {
 public:
  // Parses "4+8", which is 8 bytes from byte 4 on, or "/EXPRESSION/".
  static std::expected<ReplyPart, std::string> parse(std::string_view text);

  // Returns the part, which is within `reply`. An error says what the reply lacks.
  std::expected<Bytes, std::string> of(Bytes reply) const;

 private:
  std::size_t offset_ = 0, size_ = 0;
  std::shared_ptr<const Expression> expression_{};
};

}  // namespace joust::script
