// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joust/bytes.hpp"
#include "load/schedule.hpp"
#include "protocols/script/expression.hpp"

namespace joust::script {

// The form of a binary number without a sign in a message: "u8", "u16", "u32" or "u64", with "le" little
// endian.
struct BinaryNumber {
  std::size_t width = 0;  // bytes: 1, 2, 4 or 8; 0: there is none
  bool is_little = false;

  bool operator==(const BinaryNumber&) const = default;

  // Takes the form from the begin of a text. Takes nothing, and has no width, if it does not begin with one.
  static BinaryNumber take_from(std::string_view& text);

  // `bytes` begins with the number.
  std::uint64_t read(Bytes bytes) const;
  // Writes the low bytes of the number.
  void write(std::uint64_t number, std::byte* to) const;
  // Returns whether write() would lose a part of the number.
  bool is_too_small_for(std::uint64_t number) const;
};

inline constexpr std::size_t kLargestMessage = 1 << 20;  // bytes, boundaries included

// A part of a reply: some bytes at a place, or the first group of a regular expression. Any thread.
class ReplyPart {
 public:
  // Parses "4+8", which is 8 bytes from byte 4 on, or "/EXPRESSION/".
  static std::expected<ReplyPart, std::string> parse(std::string_view text);

  // Returns the part, which is within `reply`. An error says what the reply lacks.
  std::expected<Bytes, std::string> of(Bytes reply) const;

 private:
  std::size_t offset_ = 0, size_ = 0;
  std::shared_ptr<const Expression> expression_{};
};

// {counter} is the number of the connection times this, and the number of the message.
inline constexpr std::uint64_t kCounterStep = 1'000'000'000;

// A literal or a placeholder of a template.
struct TemplatePart {
  enum class Kind : std::uint8_t {
    literal,
    message,
    connection,
    counter,
    random,
    bytes,
    id,     // the low bytes of the message's number
    reply,  // a part of the reply that came last
    value,  // a value of the request: {1}, {2}, ...
    size,   // the number of the bytes that follow, or that stand between {begin} and {end}
    begin,
    end,
  };

  Kind kind = Kind::literal;
  std::string text{};               // a literal, or what stands before a random number
  std::uint64_t low = 0, high = 0;  // of a random number, or of the size of random bytes
  std::size_t width = 0;            // least digits of a decimal number
  BinaryNumber binary{};            // the form of an id, or of a size that is not decimal
  bool counts_itself = false;       // of a size
  std::size_t value = 0;            // N of {N}
  bool is_payload = false;          // random bytes, of a size that the other side may not know
  Pattern::Alphabet alphabet = Pattern::Alphabet::any;  // of random bytes
  std::shared_ptr<const Pattern> pattern{};             // of random bytes
  std::optional<ReplyPart> reply{};

  bool has_value() const { return kind >= Kind::message && kind <= Kind::value; }
  bool is_number() const;                         // decimal digits
  std::optional<std::size_t> fixed_size() const;  // in bytes, if it is the same for each message
};

// Parses a template. `payload`: the size of {bytes}. An error says what is wrong, and at which character.
std::expected<std::vector<TemplatePart>, std::string> parse_template(std::string_view text,
                                                                     std::size_t payload);

// Returns the bytes of a text with the escapes \r \n \t \0 \\ \{ \} \" \xHH. An error says which is unknown.
std::expected<std::string, std::string> unescaped(std::string_view text);

}  // namespace joust::script
