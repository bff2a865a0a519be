// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace joust::script {

// A regular expression, which takes time in proportion to the text, whatever the expression is. Any thread.
class Expression {
 public:
  virtual ~Expression() = default;
  // Returns the first group, or the whole match of an expression without groups; nothing without a match.
  virtual std::optional<std::string_view> find(std::string_view text) const = 0;
};

// Compiles an expression in the syntax of RE2. An error says what is wrong with it.
std::expected<std::shared_ptr<const Expression>, std::string> compile_expression(std::string_view text);

}  // namespace joust::script
