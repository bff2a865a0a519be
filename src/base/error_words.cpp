// SPDX-License-Identifier: MIT
#include "base/error_words.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <string_view>

namespace joust {

std::string words_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "there is not enough memory";
  if (const auto* const file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return fmt::format("{}: {}", file->path1().string(), file->code().message());
  std::string_view text = error.what();
  if (const std::size_t end = text.find("] "); text.starts_with("[json.exception.") && end != text.npos)
    text.remove_prefix(end + 2);
  return std::string(text);
}

}  // namespace joust
