// SPDX-License-Identifier: MIT
#include "measure/hdr_histogram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "measure/histogram.hpp"

namespace joust {
namespace {

constexpr std::uint32_t kCookie = 0x1c849313, kCompressedCookie = 0x1c849314;
constexpr std::uint32_t kSignificantDigits = 3;
constexpr std::uint64_t kLowestDiscernible_ns = 1;

template <std::unsigned_integral Number>
void append(std::string& text, Number number) {
  std::array<std::byte, sizeof number> bytes{};
  write_big_endian(number, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Appends a number of 64 bits in up to nine bytes: LEB128, of which the ninth byte has eight bits, of the
// number in zigzag, which makes small negative numbers small.
void append_zigzag(std::string& text, std::int64_t number) {
  auto left = static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
  for (int i = 0; i < 8 && left > 0x7f; ++i, left >>= 7) text += static_cast<char>(left | 0x80);
  text += static_cast<char>(left);
}

std::vector<std::uint64_t> counts_of(const Distribution& distribution) {
  std::vector<std::uint64_t> counts;
  for (const Distribution::Bucket& bucket : distribution.buckets()) {
    const std::size_t place = Histogram::bucket_of(bucket.low_ns);
    if (place >= counts.size()) counts.resize(place + 1);
    counts[place] += bucket.count;
  }
  return counts;
}

// Returns the counts up to the last one. A negative number stands for so many empty buckets.
std::string payload_of(const std::vector<std::uint64_t>& counts) {
  std::string payload;
  for (auto at = counts.begin(); at != counts.end();) {
    const auto filled = std::find_if(at, counts.end(), std::identity());
    if (filled != at) append_zigzag(payload, at - filled);
    at = filled;
    if (at != counts.end()) append_zigzag(payload, static_cast<std::int64_t>(*at++));
  }
  return payload;
}

std::string encoded(const std::vector<std::uint64_t>& counts) {
  const std::string payload = payload_of(counts);
  std::string text;
  append(text, kCookie);
  append(text, static_cast<std::uint32_t>(payload.size()));
  append(text, std::uint32_t{0});  // the offset of a histogram that was shifted
  append(text, kSignificantDigits);
  append(text, kLowestDiscernible_ns);
  append(text, Histogram::kHighestTrackable_ns);
  append(text, std::bit_cast<std::uint64_t>(1.0));  // the unit of values
  return text + payload;
}

std::uint32_t adler_32(std::string_view content) {
  constexpr std::uint32_t kModulus = 65521;
  std::uint32_t low = 1, high = 0;
  for (const char c : content) {
    low = (low + static_cast<unsigned char>(c)) % kModulus;
    high = (high + low) % kModulus;
  }
  return high << 16 | low;
}

// Returns the content in the format of zlib (RFC 1950), in blocks that are not compressed (RFC 1951, 3.2.4).
std::string stored(const std::string& content) {
  constexpr std::size_t kLongestBlock = 0xffff;
  std::string text = "\x78\x01";
  std::string_view left = content;
  do {
    const std::string_view block = left.substr(0, kLongestBlock);
    left.remove_prefix(block.size());
    const auto length = static_cast<std::uint16_t>(block.size());
    text += left.empty() ? '\1' : '\0';  // the last block has 1
    append(text, std::byteswap(length));
    append(text, std::byteswap(static_cast<std::uint16_t>(~length)));
    text += block;
  } while (!left.empty());
  append(text, adler_32(content));
  return text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < present ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += digit > present ? '=' : kDigits[group >> (18 - 6 * digit) & 0x3f];
  }
  return text;
}

}  // namespace

std::string hdr_histogram(const Distribution& distribution) {
  const std::string content = stored(encoded(counts_of(distribution)));
  std::string text;
  append(text, kCompressedCookie);
  append(text, static_cast<std::uint32_t>(content.size()));
  return base64(text + content);
}

}  // namespace joust
