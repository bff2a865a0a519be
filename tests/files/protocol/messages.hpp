// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/protocol/wire.hpp"

// The file protocol as tests speak it.
namespace joust::file::test {

std::string wire(const Message& message);

// The stream with the checks that its frames ought to have, as far as there are frames: for tests of what a
// decoder does behind the checks.
std::string with_checks(std::string bytes);

// A message in words, for comparison and for people.
std::string describe(const Message& message);

struct Decoded {
  std::vector<Message> messages;
  std::string data;  // of all data frames, one after the other
  std::optional<FileError> violation;

  std::string text() const;  // all of it
};
// `cuts` are the sizes of the pieces the bytes come in; the last piece is what is left.
Decoded decode_all(std::string_view bytes, const std::vector<std::size_t>& cuts = {});

}  // namespace joust::file::test
