// SPDX-License-Identifier: MIT
#include "secure/token.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace joust {
namespace {

constexpr std::size_t kLeastBits = 128;
constexpr std::size_t kMostCharacters = 1024;
// A random text of 22 characters has fewer different characters once in a billion times.
constexpr std::size_t kLeastDifferent = 8;
constexpr auto kHowToMake = "; make one with: joust receive --new-token FILE";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kWhite), text.size());
  return text.substr(begin, text.find_last_not_of(kWhite) + 1 - begin);
}

bool is_base64_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '+' || c == '/';
}

// Returns the largest number of random bits that the text can hold.
std::size_t bits_of(std::string_view digits) {
  const bool is_hex = std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c) != 0; });
  return digits.size() * (is_hex ? 4 : 6);
}

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace

Token::Token(std::string_view text) : text_(trimmed(text)) {
  if (text_.size() > kMostCharacters) throw WeakToken("the token is longer than 1,024 characters");
  std::string_view digits = text_;
  while (digits.ends_with('=')) digits.remove_suffix(1);
  if (!std::ranges::all_of(digits, is_base64_digit))
    throw WeakToken(std::string("the token has characters that are neither hexadecimal nor base64 digits") +
                    kHowToMake);
  if (bits_of(digits) < kLeastBits)
    throw WeakToken(std::string("the token has less than 128 bits (32 hexadecimal or 22 base64 digits)") +
                    kHowToMake);
  if (std::set<char>(digits.begin(), digits.end()).size() < kLeastDifferent)
    throw WeakToken(std::string("the token repeats few characters, so it is not random") + kHowToMake);
}

Token::~Token() {
  OPENSSL_cleanse(text_.data(), text_.size());
}

Token Token::make() {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 43> random;  // 6 of the 8 bits of each byte are used: 258 in all
  if (::RAND_bytes(random.data(), random.size()) != 1)
    throw std::runtime_error("the system has no random bytes");
  std::string text;
  for (const unsigned char one : random) text += kDigits[one % kDigits.size()];
  return Token(text);
}

Token::Key Token::key_for(std::string_view purpose) const {
  Key key{};
  const Bytes text = as_bytes(text_);
  std::ranges::copy(authenticated(key, {text}), key.begin());  // extract: any length becomes 32 bytes
  return authenticated(key, {as_bytes(purpose)});              // expand
}

Token::Key authenticated(const Token::Key& key, std::initializer_list<Bytes> parts) {
  std::vector<std::byte> whole;
  for (const Bytes part : parts) whole.insert(whole.end(), part.begin(), part.end());
  Token::Key result;
  unsigned size = 0;
  const auto* const done = ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(whole.data()),
                                  whole.size(), reinterpret_cast<unsigned char*>(result.data()), &size);
  OPENSSL_cleanse(whole.data(), whole.size());
  if (done == nullptr || size != result.size()) throw std::runtime_error("HMAC-SHA-256 failed");
  return result;
}

}  // namespace joust
