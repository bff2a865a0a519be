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

#include "base/bytes.hpp"
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

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::string_view bytes) {
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

// The text is no histogram.
struct Damaged {};

void require(bool holds) {
  if (!holds) throw Damaged();
}

// Takes numbers and bytes from the front of a text. Throws Damaged at its end.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  std::string_view take(std::size_t bytes) {
    require(bytes <= left_.size());
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }
  template <std::unsigned_integral Number>
  Number number() {
    return read_big_endian<Number>(reinterpret_cast<const std::byte*>(take(sizeof(Number)).data()));
  }
  std::int64_t zigzag() {
    std::uint64_t number = 0;
    for (unsigned place = 0; place < 9; ++place) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      const bool is_last = place == 8 || byte <= 0x7f;
      number |= static_cast<std::uint64_t>(place == 8 ? byte : byte & 0x7f) << (7 * place);
      if (is_last) break;
    }
    return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

std::string from_base64(std::string_view text) {
  require(text.size() % 4 == 0);
  std::string bytes;
  while (!text.empty()) {
    const std::string_view group = text.substr(0, 4);
    text.remove_prefix(4);
    const std::size_t digits = std::min(group.find('='), group.size());
    require(digits == 4 || (digits >= 2 && text.empty()));
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t digit = i < digits ? kDigits.find(group[i]) : 0;
      require(digit != std::string_view::npos && (i < digits || group[i] == '='));
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t i = 0; i + 1 < digits; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i));
  }
  return bytes;
}

std::string from_stored(Reader reader) {
  std::string content;
  require(reader.take(2) == "\x78\x01");
  for (bool is_last = false; !is_last;) {
    const char kind = reader.take(1).front();
    require(kind == '\0' || kind == '\1');
    is_last = kind == '\1';
    const auto length = std::byteswap(reader.number<std::uint16_t>());
    require(std::byteswap(reader.number<std::uint16_t>()) == static_cast<std::uint16_t>(~length));
    content += reader.take(length);
  }
  require(reader.number<std::uint32_t>() == adler_32(content) && reader.at_end());
  return content;
}

Distribution read_payload(Reader payload) {
  std::vector<Distribution::Bucket> buckets;
  std::uint64_t count = 0, sum_ns = 0;
  for (std::size_t place = 0; !payload.at_end();) {
    const std::int64_t number = payload.zigzag();
    if (number <= 0) {  // so many empty buckets
      const std::uint64_t empty = 0 - static_cast<std::uint64_t>(number);
      require(empty > 0 && empty <= Histogram::kBuckets - place);
      place += static_cast<std::size_t>(empty);
      continue;
    }
    require(place < Histogram::kBuckets &&
            static_cast<std::uint64_t>(number) <= Distribution::kMostValues - count);
    const Distribution::Bucket bucket =
        Histogram::bucket_with(Histogram::lowest_of(place++), static_cast<std::uint64_t>(number));
    count += bucket.count;
    sum_ns += bucket.count * (bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2);
    buckets.push_back(bucket);
  }
  if (buckets.empty()) return {};
  const std::uint64_t min_ns = buckets.front().low_ns, max_ns = buckets.back().high_ns;
  return {std::move(buckets), min_ns, max_ns, sum_ns};
}

Distribution read_encoded(Reader reader) {
  require(reader.number<std::uint32_t>() == kCookie);
  const auto length = reader.number<std::uint32_t>();
  require(reader.number<std::uint32_t>() == 0 && reader.number<std::uint32_t>() == kSignificantDigits);
  require(reader.number<std::uint64_t>() == kLowestDiscernible_ns);
  require(reader.number<std::uint64_t>() == Histogram::kHighestTrackable_ns);
  require(reader.number<std::uint64_t>() == std::bit_cast<std::uint64_t>(1.0));
  const std::string_view payload = reader.take(length);
  require(reader.at_end());
  return read_payload(Reader(payload));
}

}  // namespace

std::optional<Distribution> read_hdr_histogram(std::string_view text) {
  try {
    const std::string bytes = from_base64(text);
    Reader reader(bytes);
    require(reader.number<std::uint32_t>() == kCompressedCookie);
    const auto length = reader.number<std::uint32_t>();
    const std::string content = from_stored(Reader(reader.take(length)));
    require(reader.at_end());
    return read_encoded(Reader(content));
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

std::string hdr_histogram(const Distribution& distribution) {
  const std::string content = stored(encoded(counts_of(distribution)));
  std::string text;
  append(text, kCompressedCookie);
  append(text, static_cast<std::uint32_t>(content.size()));
  return base64(text + content);
}

}  // namespace joust
