// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "protocols/script/expression.hpp"
#include "protocols/script/template.hpp"

namespace joust::script {

// The rule for a right reply. Compiled once; immutable; any thread.
class Expectation {
 public:
  enum class Kind : std::uint8_t { none, text, exact, prefix, contains, length, match, echo };

  // Parses a text, "none", "exact:TEMPLATE", "prefix:TEMPLATE", "contains:TEMPLATE", "length:BYTES",
  // "match:EXPRESSION" or "echo". A text alone is that of a reply, without the end of its line. In templates
  // {1}, {2}, ... are the values of the request. An error says what is possible. `payload`: see Template.
  static std::expected<Expectation, std::string> parse(std::string_view text, std::size_t payload);

  bool checks() const { return kind_ != Kind::none; }
  // Returns whether right() needs the request that was answered.
  bool needs_request() const { return kind_ == Kind::echo || template_.most_value() > 0; }

  // Returns whether a reply is right. `request`: the request that it answers, with its values; it may be null
  // where needs_request() is false. `scratch`: memory that calls of one thread share.
  bool right(Bytes reply, const MessageNumber& message, const Rendered* request, Rendered& scratch) const;

  // Describes a right reply, after right(): "begins with '+OK'". `scratch`: that of right().
  std::string description(const Rendered& scratch) const;

  Kind kind() const { return kind_; }
  const Template& form() const { return template_; }  // of text, exact, prefix and contains

 private:
  Kind kind_ = Kind::none;
  std::string text_{};  // after the colon
  Template template_{};
  Rendered constant_{};  // the message of a constant template
  std::size_t length_ = 0;
  std::shared_ptr<const Expression> expression_{};
};

}  // namespace joust::script
