// SPDX-License-Identifier: MIT
#include "protocols/script/template_parser.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"

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

std::expected<ReplyPart, std::string> ReplyPart::parse(std::string_view text) {
  ReplyPart part;
  if (text.size() >= 2 && text.starts_with('/') && text.ends_with('/')) {
    auto expression = compile_expression(text.substr(1, text.size() - 2));
    if (!expression) return std::unexpected(expression.error());
    part.expression_ = std::move(*expression);
    return part;
  }
  const std::size_t plus = text.find('+');
  const auto offset = parse_count(std::string(text.substr(0, plus)));
  const auto size = plus == text.npos ? std::expected<std::uint64_t, std::string>(std::unexpected(""))
                                      : parse_count(std::string(text.substr(plus + 1)));
  if (!offset || !size || *size == 0 || *offset + *size > kLargestMessage)
    return std::unexpected("say {reply:4+8} for 8 bytes from byte 4 on, or {reply:/EXPRESSION/}");
  part.offset_ = *offset;
  part.size_ = *size;
  return part;
}

std::expected<Bytes, std::string> ReplyPart::of(Bytes reply) const {
  if (expression_) {
    const auto found = expression_->find(as_text(reply));
    if (!found) return std::unexpected("the last reply has nothing that the expression of {reply} finds");
    return as_bytes(*found);
  }
  if (reply.size() < offset_ + size_)
    return std::unexpected(
        fmt::format("the last reply has {} bytes, and {{reply}} takes bytes {} to {} of it", reply.size(),
                    offset_, offset_ + size_));
  return reply.subspan(offset_, size_);
}

namespace {

constexpr std::size_t kMostWidth = 20;             // digits
constexpr std::size_t kLongestTemplate = 1 << 20;  // bytes of its text
constexpr std::size_t kMostParts = 1000;

using Part = std::expected<TemplatePart, std::string>;

std::optional<unsigned> hexadecimal(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

// Reads the escape after a backslash, and moves `at` behind it.
std::expected<char, std::string> escape(std::string_view text, std::size_t& at) {
  static constexpr std::string_view kNames = "rnt0\\{}\"", kBytes("\r\n\t\0\\{}\"", 8);
  if (at == text.size()) return std::unexpected("a backslash at the end: write \\\\ for one");
  const char name = text[at++];
  if (const std::size_t known = kNames.find(name); known != kNames.npos) return kBytes[known];
  const auto byte = name == 'x' && at + 2 <= text.size() ? hexadecimal(text.substr(at, 2)) : std::nullopt;
  if (!byte)
    return std::unexpected(
        fmt::format("'\\{}' is no escape; there are \\r \\n \\t \\0 \\\\ \\{{ \\}} \\\" and \\xHH",
                    printable(std::string_view(&name, 1))));
  at += 2;
  return static_cast<char>(*byte);
}

struct Range {
  std::uint64_t low = 0, high = 0;
};

// Reads "1..1000", or one number for both.
std::expected<Range, std::string> range_in(std::string_view text, bool bytes) {
  const std::size_t dots = text.find("..");
  const auto read = [bytes](std::string_view one) { return bytes ? parse_bytes(one) : parse_count(one); };
  const auto low = read(text.substr(0, dots));
  const auto high = dots == text.npos ? low : read(text.substr(dots + 2));
  if (!low || !high) return std::unexpected(fmt::format("'{}' is no range such as 1..1000", printable(text)));
  if (*low > *high)
    return std::unexpected(fmt::format("the range '{}' is empty: it ends before it begins", printable(text)));
  return Range{*low, *high};
}

// Reads the width of a decimal number: "08".
Part with_width(TemplatePart part, std::string_view text) {
  if (text.empty()) return part;
  const auto width = parse_count(text);
  if (!width || *width == 0 || *width > kMostWidth)
    return std::unexpected(fmt::format("'{}' is no number of digits up to {}", printable(text), kMostWidth));
  part.width = static_cast<std::size_t>(*width);
  return part;
}

Part random_number(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view before = colon == text.npos ? "" : text.substr(0, colon + 1);
  const auto range = range_in(colon == text.npos ? text : text.substr(colon + 1), false);
  if (!range) return std::unexpected(range.error());
  return TemplatePart{.kind = TemplatePart::Kind::random,
                      .text = std::string(before),
                      .low = range->low,
                      .high = range->high};
}

Part random_bytes(std::string_view text, std::size_t payload, Pattern::Alphabet alphabet) {
  auto range = text.empty() ? Range{payload, payload} : range_in(text, true);
  if (!range) return std::unexpected(range.error());
  if (range->high > kLargestMessage)
    return std::unexpected(fmt::format("{} bytes are more than {}", range->high, kLargestMessage));
  return TemplatePart{.kind = TemplatePart::Kind::bytes,
                      .low = range->low,
                      .high = range->high,
                      .is_payload = text.empty(),
                      .alphabet = alphabet,
                      .pattern = Pattern::of(static_cast<std::size_t>(range->high), alphabet)};
}

// Reads the form of a binary number, if the text is nothing else: "u32", "u16le".
BinaryNumber binary_of(std::string_view text) {
  const BinaryNumber binary = BinaryNumber::take_from(text);
  return text.empty() ? binary : BinaryNumber{};
}

Part size_of(std::string_view text) {
  TemplatePart part{.kind = TemplatePart::Kind::size};
  if (text.empty()) return part;  // decimal digits
  part.counts_itself = text.ends_with("+self");
  if (part.counts_itself) text.remove_suffix(5);
  part.binary = binary_of(text);
  if (part.binary.width == 0)
    return std::unexpected(fmt::format(
        "'{}' is no size: say {{size}} for decimal digits, or u8, u16, u32, u64, these with le for little "
        "endian, and +self for one that counts its own bytes too: {{size:u32le+self}}",
        printable(text)));
  return part;
}

Part id_of(std::string_view text) {
  const TemplatePart part{.kind = TemplatePart::Kind::id, .binary = binary_of(text)};
  if (part.binary.width < 2)
    return std::unexpected("say {id:u16}, {id:u32} or {id:u64}, these with le for little endian");
  return part;
}

Part reply_of(std::string_view text) {
  auto reply = ReplyPart::parse(text);
  if (!reply) return std::unexpected(reply.error());
  return TemplatePart{.kind = TemplatePart::Kind::reply, .reply = std::move(*reply)};
}

// Reads a placeholder, without its braces.
Part placeholder(std::string_view text, std::size_t payload) {
  using Kind = TemplatePart::Kind;
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view rest = colon == text.npos ? "" : text.substr(colon + 1);
  if (name == "message") return with_width({.kind = Kind::message}, rest);
  if (name == "connection") return with_width({.kind = Kind::connection}, rest);
  if (name == "counter") return with_width({.kind = Kind::counter}, rest);
  if (name == "rand") return random_number(rest);
  if (name == "bytes") return random_bytes(rest, payload, Pattern::Alphabet::alphanumeric);
  if (name == "binary") return random_bytes(rest, payload, Pattern::Alphabet::any);
  if (name == "size") return size_of(rest);
  if (name == "id") return id_of(rest);
  if (name == "reply") return reply_of(rest);
  if (name == "begin" && rest.empty()) return TemplatePart{.kind = Kind::begin};
  if (name == "end" && rest.empty()) return TemplatePart{.kind = Kind::end};
  if (const auto number = parse_count(text); number && *number >= 1 && *number <= kMostParts)
    return TemplatePart{.kind = Kind::value, .value = static_cast<std::size_t>(*number)};
  static const std::vector<std::string> kNames{"message", "connection", "counter", "rand", "bytes", "binary",
                                               "size",    "begin",      "end",     "id",   "reply"};
  return std::unexpected(fmt::format("there is no placeholder '{}'; {}; a brace that is text is written \\{{",
                                     printable(text), suggestion(std::string(name), kNames)));
}

// Checks that {begin} follows a {size}, and {end} a {begin}. Returns an error, or an empty string.
std::string check_sizes(const std::vector<TemplatePart>& parts) {
  using Kind = TemplatePart::Kind;
  std::size_t open = 0;  // sizes with bytes that have not ended
  bool may_begin = false;
  for (const TemplatePart& part : parts) {
    if (part.kind == Kind::begin && !may_begin)
      return "{begin} says where the bytes begin that a {size} before it counts: put a {size} before it";
    if (part.kind == Kind::end && open == 0) return "{end} has no {size} whose bytes it ends";
    if (part.kind == Kind::size) ++open;
    if (part.kind == Kind::end) --open;
    if (part.kind == Kind::size) may_begin = true;
    if (part.kind == Kind::begin || part.kind == Kind::end) may_begin = false;
  }
  return {};
}

// Returns the end of the placeholder that begins at `at`, with its brace: that in a regular expression, whose
// braces are its own, is after its last slash.
std::size_t end_of(std::string_view text, std::size_t at) {
  constexpr std::string_view kExpression = "{reply:/";
  if (text.substr(at).starts_with(kExpression)) return text.find("/}", at + kExpression.size()) + 1;
  return text.find('}', at);
}

}  // namespace

bool TemplatePart::is_number() const {
  return kind == Kind::message || kind == Kind::connection || kind == Kind::counter || kind == Kind::random ||
         (kind == Kind::size && binary.width == 0);
}

std::optional<std::size_t> TemplatePart::fixed_size() const {
  if (binary.width > 0) return binary.width;
  if (kind == Kind::bytes && low == high && !is_payload) return static_cast<std::size_t>(low);
  return std::nullopt;
}

std::expected<std::string, std::string> unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      bytes += text[at++];
      continue;
    }
    const auto byte = escape(text, ++at);
    if (!byte) return std::unexpected(byte.error());
    bytes += *byte;
  }
  return bytes;
}

std::expected<std::vector<TemplatePart>, std::string> parse_template(std::string_view text,
                                                                     std::size_t payload) {
  if (text.size() > kLongestTemplate)
    return std::unexpected(fmt::format("{} bytes are more than {}", text.size(), kLongestTemplate));
  std::vector<TemplatePart> parts;
  const auto add_byte = [&parts](char byte) {
    if (parts.empty() || parts.back().kind != TemplatePart::Kind::literal) parts.emplace_back();
    parts.back().text += byte;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto wrong = [begin = at](const std::string& what) {
      return std::unexpected(fmt::format("at character {}: {}", begin + 1, what));
    };
    if (text[at] == '\\') {
      const auto byte = escape(text, ++at);
      if (!byte) return wrong(byte.error());
      add_byte(*byte);
    } else if (text[at] == '{') {
      const std::size_t end = end_of(text, at);
      if (end == text.npos || end == 0)
        return wrong("a brace that is not closed; one that is text is written \\{");
      auto part = placeholder(text.substr(at + 1, end - at - 1), payload);
      if (!part) return wrong(part.error());
      parts.push_back(std::move(*part));
      at = end + 1;
    } else if (text[at] == '}') {
      return wrong("a brace that is text is written \\}");
    } else {
      add_byte(text[at++]);
    }
    if (parts.size() > kMostParts)
      return wrong(fmt::format("there are more than {} placeholders", kMostParts));
  }
  if (std::string wrong = check_sizes(parts); !wrong.empty()) return std::unexpected(std::move(wrong));
  return parts;
}

}  // namespace joust::script
