// SPDX-License-Identifier: MIT
#include "protocols/script/binary_number.hpp"

#include <utility>

namespace joust::script {
namespace {

bool take(std::string_view word, std::string_view& text) {
  const bool has = text.starts_with(word);
  if (has) text.remove_prefix(word.size());
  return has;
}

}  // namespace

BinaryNumber BinaryNumber::take_from(std::string_view& text) {
  static constexpr std::pair<std::string_view, std::size_t> kWidths[] = {
      {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};
  for (const auto& [name, width] : kWidths)
    if (take(name, text)) return {.width = width, .is_little = take("le", text)};
  return {};
}

std::uint64_t BinaryNumber::read(Bytes bytes) const {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < width; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[is_little ? width - 1 - i : i]);
  return number;
}

void BinaryNumber::write(std::uint64_t number, std::byte* to) const {
  for (std::size_t i = 0; i < width; ++i)
    to[is_little ? i : width - 1 - i] = static_cast<std::byte>(number >> (8 * i));
}

bool BinaryNumber::is_too_small_for(std::uint64_t number) const {
  return width < sizeof number && number >> (8 * width) != 0;
}

}  // namespace joust::script
