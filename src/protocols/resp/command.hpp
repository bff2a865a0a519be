// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <span>
#include <string_view>

#include "joust/bytes.hpp"

namespace joust::resp {

// A command of a client: its name and its arguments. It refers to the bytes of the message.
class Command {
 public:
  static constexpr std::size_t kMostWords = 64;

  // Reads an array of bulk strings, or words of a line. A message without words is a command without a name.
  // An error says what is wrong, as Redis says it.
  static std::expected<Command, std::string_view> read(Bytes message);

  std::string_view name() const { return count_ == 0 ? std::string_view() : words_[0]; }
  bool is(std::string_view upper_case_name) const;
  std::span<const std::string_view> arguments() const {
    return std::span(words_).subspan(1, count_ == 0 ? 0 : count_ - 1);
  }

 private:
  bool add(std::string_view word);  // returns false if there are too many

  std::array<std::string_view, kMostWords> words_;
  std::size_t count_ = 0;
};

}  // namespace joust::resp
