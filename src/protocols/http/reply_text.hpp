// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "protocols/http/messages.hpp"

namespace joust::http {

std::string_view reason_of(Status status);

// Returns the body of a reply that has only a status: for people, with a remedy where one is known.
std::string words_for(Status status);

// The head of a reply, while it is being written.
class ReplyText {
 public:
  ReplyText(Status status, std::string_view date);
  template <typename Value>
  void field(std::string_view name, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "{}: {}\r\n", name, value);
  }
  // Returns the whole head. Nothing can be added after it.
  std::string_view end();

 private:
  fmt::memory_buffer text_;
};

// A reply that is always the same except for its date, so that it is not composed for each request.
class FixedReply {
 public:
  explicit FixedReply(std::string_view body);
  std::size_t size() const { return text_.size(); }
  void write(std::string_view date, std::span<std::byte> into) const;  // `into` has that size

 private:
  std::string text_;
  std::size_t date_ = 0;  // the position of the date
};

}  // namespace joust::http
