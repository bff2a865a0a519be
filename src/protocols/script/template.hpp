// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joust/bytes.hpp"
#include "protocols/script/template_parser.hpp"

namespace joust::script {

// The message that a template is written for.
struct MessageNumber {
  std::uint64_t connection = 0, number = 0;  // both from 0
  std::uint64_t seed = 0;                    // of random values: equal numbers and seeds give equal bytes
};

// A message made from a template, with the places of its values: the bytes of its placeholders, in order.
struct Rendered {
  std::vector<std::byte> bytes{};
  std::vector<std::pair<std::size_t, std::size_t>> values{};  // begin and end

  std::string_view value(std::size_t index) const;  // from 0
  void clear();
};

// Returns the beginning of a message in quotes, for complaints.
std::string shown(Bytes message);

// A text with placeholders, from which messages are made (docs/script-protocol.md). Compiled once; immutable;
// any thread.
class Template {
 public:
  // Compiles a text. `payload`: the size of {bytes}. An error says what is wrong, and at which character.
  static std::expected<Template, std::string> compile(std::string_view text, std::size_t payload);

  // Makes a message. `request` has the values of {1}, {2}, ...; it may be null where most_value() is 0.
  // `reply`: the reply that came last on the connection, empty before the first. An error says what the reply
  // lacks that the template takes from it.
  std::expected<void, std::string> render(const MessageNumber& message, const Rendered* request, Bytes reply,
                                          Rendered& into) const;

  // Finds the values in a message that somebody else made from this template. Nothing if the message is not
  // of this form. A value that is no number ends before the next literal.
  std::optional<Rendered> match(Bytes message) const;

  bool is_empty() const { return parts_.empty(); }
  bool is_constant() const;
  bool may_be_empty() const;  // a message may have no bytes
  // Returns whether match() cannot know where a value ends: it has no fixed size, and no text follows that is
  // no part of it.
  bool is_ambiguous() const;
  bool has(TemplatePart::Kind kind) const;
  std::optional<BinaryNumber> id() const;  // the form of its {id}, of the first one if there are several
  bool uses_payload() const;               // a part has the size of --payload
  std::size_t values() const;          // the number of placeholders with a value
  std::size_t most_value() const;      // the greatest N of {N}; 0: there is none
  std::string_view beginning() const;  // the literal that each message begins with

 private:
  std::size_t end_of_value(std::size_t part_index, std::string_view text, std::size_t at) const;

  std::vector<TemplatePart> parts_{};
};

}  // namespace joust::script
