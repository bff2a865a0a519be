// SPDX-License-Identifier: MIT
#include "protocols/script/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "protocols/script/template_parser.hpp"

namespace joust::script {
namespace {

constexpr std::size_t kMostDigits = 20;

// Distances between the random values of messages and of placeholders (base/bytes.hpp).
std::uint64_t random_for(const MessageNumber& message, std::size_t placeholder) {
  const std::uint64_t of_message = mixed(message.seed + message.connection * kMixStep) + message.number;
  return mixed(of_message * kMixStep + placeholder + 1);
}

// Maps a random number to low..high. The bias is below the size of the range divided by 2^64.
std::uint64_t in_range(std::uint64_t random, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t size = high - low + 1;  // 0: all numbers
  return size == 0 ? random : low + random % size;
}

void append(std::string_view text, std::vector<std::byte>& bytes) {
  const Bytes from = as_bytes(text);
  bytes.insert(bytes.end(), from.begin(), from.end());
}

void append_decimal(std::uint64_t number, std::size_t width, std::vector<std::byte>& bytes) {
  std::array<char, kMostDigits> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  bytes.insert(bytes.end(), width > size ? width - size : 0, std::byte{'0'});
  append({digits.data(), size}, bytes);
}

// Appends random bytes. The first ones are drawn one by one, so that hardly two values are equal; the rest is
// a part of one long text.
void append_random(const TemplatePart& part, std::size_t size, std::uint64_t random,
                   std::vector<std::byte>& bytes) {
  constexpr std::size_t kDrawn = 16;
  const std::size_t begin = bytes.size();
  const Bytes rest = part.pattern->message(0, random);
  bytes.insert(bytes.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
  std::uint64_t draws = 0;
  for (std::size_t i = 0; i < std::min(size, kDrawn); ++i, draws >>= 8) {
    if (i % sizeof draws == 0) draws = mixed(random + (i + 1) * kMixStep);
    bytes[begin + i] = Pattern::letter(static_cast<std::uint8_t>(draws), part.alphabet);
  }
}

// A size that is written when the message has all its bytes.
struct OpenSize {
  const TemplatePart* part = nullptr;
  std::size_t at = 0, begin = 0, end = SIZE_MAX;  // its own place, and the bytes that it counts
  std::size_t values_before = 0;                  // values that stand before it
  std::size_t sizes_at_end = SIZE_MAX;            // sizes that stand before its end
};

std::size_t counted_by(const OpenSize& size, std::size_t all) {
  const std::size_t bytes = std::min(size.end, all) - size.begin;
  return size.part->counts_itself ? bytes + size.part->binary.width : bytes;
}

// Inserts the decimal sizes, last one first, so that a size counts the digits of those within its bytes.
void insert_decimal_sizes(std::vector<OpenSize>& sizes, Rendered& message) {
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const OpenSize size = sizes[i];
    if (size.part->binary.width > 0) continue;
    std::vector<std::byte> digits;
    append_decimal(counted_by(size, message.bytes.size()), 0, digits);
    message.bytes.insert(message.bytes.begin() + static_cast<std::ptrdiff_t>(size.at), digits.begin(),
                         digits.end());
    for (std::size_t value = size.values_before; value < message.values.size(); ++value) {
      message.values[value].first += digits.size();
      message.values[value].second += digits.size();
    }
    for (std::size_t other = 0; other < sizes.size(); ++other) {
      if (other > i) sizes[other].at += digits.size();
      if (other >= i) sizes[other].begin += digits.size();
      if (sizes[other].end != SIZE_MAX && sizes[other].sizes_at_end > i) sizes[other].end += digits.size();
    }
  }
}

// Writes one message. Its parts are written in order.
class Renderer {
 public:
  Renderer(const MessageNumber& message, const Rendered* request, Bytes reply, Rendered& into)
      : message_(message), request_(request), reply_(reply), into_(into) {
    into_.clear();
  }

  // Returns an error, or an empty string.
  std::string add(const TemplatePart& part) {
    using Kind = TemplatePart::Kind;
    std::vector<std::byte>& bytes = into_.bytes;
    const std::size_t begin = bytes.size();
    switch (part.kind) {
      case Kind::literal:
        append(part.text, bytes);
        return {};
      case Kind::size:
        bytes.resize(begin + part.binary.width);
        sizes_.push_back(
            {.part = &part, .at = begin, .begin = bytes.size(), .values_before = into_.values.size()});
        return {};
      case Kind::begin:
        sizes_.back().begin = begin;
        return {};
      case Kind::end:
        end_size(begin);
        return {};
      default:
        break;
    }
    std::string wrong;
    if (bytes.size() > kLargestMessage)
      wrong = fmt::format("a message has more than {} bytes", kLargestMessage);
    else
      wrong = add_value(part);
    into_.values.emplace_back(begin, bytes.size());
    return wrong;
  }

  // Writes the sizes. Returns an error, or an empty string.
  std::string finish() {
    insert_decimal_sizes(sizes_, into_);
    std::string wrong;
    for (const OpenSize& size : sizes_) {
      const BinaryNumber& form = size.part->binary;
      if (form.width == 0) continue;
      const std::uint64_t bytes = counted_by(size, into_.bytes.size());
      if (form.is_too_small_for(bytes))
        wrong = fmt::format("{} bytes are more than {{size:u{}}} can say", bytes, 8 * form.width);
      form.write(bytes, into_.bytes.data() + size.at);
    }
    return wrong;
  }

 private:
  std::string add_value(const TemplatePart& part) {
    using Kind = TemplatePart::Kind;
    std::vector<std::byte>& bytes = into_.bytes;
    const std::uint64_t random = random_for(message_, into_.values.size());
    switch (part.kind) {
      case Kind::message:
        append_decimal(message_.number, part.width, bytes);
        break;
      case Kind::connection:
        append_decimal(message_.connection, part.width, bytes);
        break;
      case Kind::counter:
        append_decimal(message_.connection * kCounterStep + message_.number, part.width, bytes);
        break;
      case Kind::random:
        append(part.text, bytes);
        append_decimal(in_range(random, part.low, part.high), part.width, bytes);
        break;
      case Kind::bytes:
        append_random(part, static_cast<std::size_t>(in_range(random, part.low, part.high)), random, bytes);
        break;
      case Kind::id:
        bytes.resize(bytes.size() + part.binary.width);
        part.binary.write(message_.number, bytes.data() + bytes.size() - part.binary.width);
        break;
      case Kind::reply: {
        const auto found = part.reply->of(reply_);
        if (!found) return found.error();
        append(as_text(*found), bytes);
        break;
      }
      case Kind::value:
        append(request_->value(part.value - 1), bytes);
        break;
      default:
        break;
    }
    return {};
  }

  void end_size(std::size_t at) {
    OpenSize& last = *std::ranges::find(sizes_.rbegin(), sizes_.rend(), SIZE_MAX, &OpenSize::end);
    last.end = at;
    last.sizes_at_end = sizes_.size();
  }

  const MessageNumber& message_;
  const Rendered* const request_;
  const Bytes reply_;
  Rendered& into_;
  std::vector<OpenSize> sizes_{};
};

}  // namespace

std::string shown(Bytes message) {
  constexpr std::size_t kMost = 60;
  const std::string_view text = as_text(message);
  return fmt::format("'{}'{}", printable(text.substr(0, kMost)), text.size() > kMost ? "..." : "");
}

std::string_view Rendered::value(std::size_t index) const {
  const auto [begin, end] = values.at(index);
  return as_text(Bytes(bytes).subspan(begin, end - begin));
}

void Rendered::clear() {
  bytes.clear();
  values.clear();
}

std::expected<Template, std::string> Template::compile(std::string_view text, std::size_t payload) {
  auto parts = parse_template(text, payload);
  if (!parts) return std::unexpected(parts.error());
  Template made;
  made.parts_ = std::move(*parts);
  return made;
}

std::expected<void, std::string> Template::render(const MessageNumber& message, const Rendered* request,
                                                  Bytes reply, Rendered& into) const {
  Renderer renderer(message, request, reply, into);
  std::string wrong;
  for (const TemplatePart& part : parts_)
    if (std::string missing = renderer.add(part); wrong.empty()) wrong = std::move(missing);
  if (std::string too_large = renderer.finish(); wrong.empty()) wrong = std::move(too_large);
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  return {};
}

std::optional<Rendered> Template::match(Bytes message) const {
  const std::string_view text = as_text(message);
  if (!text.starts_with(beginning())) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> values;
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const TemplatePart& part = parts_[i];
    using Kind = TemplatePart::Kind;
    if (part.kind == Kind::begin || part.kind == Kind::end) continue;
    if (part.kind == Kind::literal) {
      if (!text.substr(at).starts_with(part.text)) return std::nullopt;
      at += part.text.size();
      continue;
    }
    const std::size_t end = end_of_value(i, text, at);
    if (end == text.npos) return std::nullopt;
    if (part.kind != Kind::size) values.emplace_back(at, end);
    at = end;
  }
  if (at != text.size()) return std::nullopt;
  return Rendered{.bytes = {message.begin(), message.end()}, .values = std::move(values)};
}

// Returns where the value of a placeholder ends that begins at `at`: after its bytes if they are so many each
// time, after its digits if it is a number, or else before the next literal. npos if there is none.
std::size_t Template::end_of_value(std::size_t part_index, std::string_view text, std::size_t at) const {
  const TemplatePart& part = parts_[part_index];
  if (const auto size = part.fixed_size()) return at + *size <= text.size() ? at + *size : text.npos;
  if (part.kind == TemplatePart::Kind::random && !text.substr(at).starts_with(part.text)) return text.npos;
  const std::size_t begin = at + (part.kind == TemplatePart::Kind::random ? part.text.size() : 0);
  if (part.is_number()) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    return end > begin ? end : text.npos;
  }
  for (std::size_t next = part_index + 1; next < parts_.size(); ++next)
    if (parts_[next].kind == TemplatePart::Kind::literal) return text.find(parts_[next].text, at);
  return text.size();
}

bool Template::is_constant() const {
  return std::ranges::all_of(
      parts_, [](const TemplatePart& part) { return part.kind == TemplatePart::Kind::literal; });
}

bool Template::may_be_empty() const {
  using Kind = TemplatePart::Kind;
  return std::ranges::all_of(parts_, [](const TemplatePart& part) {
    return part.kind == Kind::begin || part.kind == Kind::end || part.kind == Kind::reply ||
           (part.kind == Kind::bytes && part.low == 0);
  });
}

bool Template::is_ambiguous() const {
  using Kind = TemplatePart::Kind;
  const TemplatePart* open = nullptr;  // a value whose end is where the next part begins
  for (const TemplatePart& part : parts_) {
    if (part.kind == Kind::begin || part.kind == Kind::end) continue;
    if (open != nullptr && part.kind != Kind::literal) return true;
    if (open != nullptr && open->is_number() &&
        std::isdigit(static_cast<unsigned char>(part.text.front())) != 0)
      return true;
    open = part.kind == Kind::literal || part.fixed_size() ? nullptr : &part;
  }
  return false;
}

bool Template::has(TemplatePart::Kind kind) const {
  return std::ranges::count(parts_, kind, &TemplatePart::kind) > 0;
}

std::optional<BinaryNumber> Template::id() const {
  const auto found = std::ranges::find(parts_, TemplatePart::Kind::id, &TemplatePart::kind);
  return found == parts_.end() ? std::nullopt : std::optional(found->binary);
}

bool Template::uses_payload() const {
  return std::ranges::any_of(parts_, &TemplatePart::is_payload);
}

std::size_t Template::values() const {
  return static_cast<std::size_t>(std::ranges::count_if(parts_, &TemplatePart::has_value));
}

std::size_t Template::most_value() const {
  std::size_t most = 0;
  for (const TemplatePart& part : parts_) most = std::max(most, part.value);
  return most;
}

std::string_view Template::beginning() const {
  const bool is_literal = !parts_.empty() && parts_.front().kind == TemplatePart::Kind::literal;
  return is_literal ? std::string_view(parts_.front().text) : std::string_view();
}

}  // namespace joust::script
