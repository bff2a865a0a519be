// SPDX-License-Identifier: MIT
#include "hosts/seal.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <charconv>

namespace joust::hosts {
namespace {

constexpr const char* kPurpose = "joust hosts/1";
constexpr const char* kNoSession = "-";
constexpr std::size_t kTagDigits = 64;
constexpr std::size_t kLongestSealHead = 256;  // "SESSION NUMBER TAG\n"

// Returns the text before the separator, and removes both; nothing if there is no separator.
std::optional<std::string_view> take_word(std::string_view& text, char separator) {
  const std::size_t end = text.substr(0, kLongestSealHead).find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end + 1);
  return word;
}

const std::string& shown(const std::string& session) {
  static const std::string none = kNoSession;
  return session.empty() ? none : session;
}

}  // namespace

Seal::Seal(std::string_view key) : key_(Token(key).key_for(kPurpose)) {}

bool Seal::is_key(std::string_view text) {
  try {
    static_cast<void>(Token(text));
    return true;
  } catch (const WeakToken&) {
    return false;
  }
}

std::string Seal::tag_of(int from, int to, const Message& message) const {
  const std::string way =
      fmt::format("{} {} {} {} {}\n", from, to, shown(message.session), message.number, message.body.size());
  std::string tag;
  for (const std::byte byte : authenticated(key_, {as_bytes(way), as_bytes(message.body)}))
    tag += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return tag;
}

std::string Seal::sealed(int from, int to, const Message& message) const {
  return fmt::format("{} {} {}\n", shown(message.session), message.number, tag_of(from, to, message)) +
         message.body;
}

std::optional<Seal::Message> Seal::opened(int from, int to, std::string_view text) const {
  const auto session = take_word(text, ' '), number = take_word(text, ' '), tag = take_word(text, '\n');
  if (!session || !number || !tag || tag->size() != kTagDigits) return std::nullopt;
  Message message{.session = std::string(*session == kNoSession ? "" : *session), .body = std::string(text)};
  const char* const end = number->data() + number->size();
  const auto read = std::from_chars(number->data(), end, message.number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (::CRYPTO_memcmp(tag->data(), tag_of(from, to, message).data(), kTagDigits) != 0) return std::nullopt;
  return message;
}

}  // namespace joust::hosts
