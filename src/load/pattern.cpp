// SPDX-License-Identifier: MIT
#include "load/pattern.hpp"

#include <map>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"

namespace joust {
namespace {

constexpr std::size_t kPlaces = 4096;  // positions at which a message may begin

}  // namespace

std::shared_ptr<const Pattern> Pattern::of(std::size_t size, Alphabet alphabet) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, Alphabet>, std::weak_ptr<const Pattern>> known;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const Pattern>& entry = known[{size, alphabet}];
  if (auto pattern = entry.lock()) return pattern;
  auto pattern = std::make_shared<const Pattern>(size, alphabet);
  entry = pattern;
  return pattern;
}

std::byte Pattern::letter(std::uint32_t random, Alphabet alphabet) {
  if (alphabet == Alphabet::any) return static_cast<std::byte>(random);
  if (alphabet == Alphabet::alphanumeric) {
    static constexpr std::string_view kLetters =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return static_cast<std::byte>(kLetters[random % kLetters.size()]);
  }
  auto character = static_cast<char>(' ' + random % ('~' - ' ' + 1));
  if (alphabet == Alphabet::upper && character >= 'a' && character <= 'z')
    character = static_cast<char>(character - 'a' + 'A');
  return static_cast<std::byte>(character);
}

Pattern::Pattern(std::size_t size, Alphabet alphabet) : size_(size), bytes_(size + kPlaces) {
  std::mt19937 random(
      20260101);  // the same for all alphabets and runs, so that `upper` is `printable` in upper case
  for (std::byte& byte : bytes_) byte = letter(static_cast<std::uint32_t>(random() >> 8), alphabet);
}

Bytes Pattern::message(std::uint64_t connection, std::uint64_t number) const {
  return Bytes(bytes_).subspan(mixed(connection * kMixStep + number) % kPlaces, size_);
}

}  // namespace joust
