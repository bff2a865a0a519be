// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

// A writer of HTML and SVG. Text of others becomes markup only through text(), which escapes it.
namespace joust::report::page {

struct Attribute {
  Attribute(std::string_view its_name, std::string_view text) : name(its_name), value(text) {}
  Attribute(std::string_view its_name, double number);

  std::string_view name;
  std::string value;  // as it is meant; it is escaped when it is written
};

// Well-formed HTML or SVG.
class Markup {
 public:
  Markup() = default;
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  Markup& operator+=(const Markup& more) {
    text_ += more.text_;
    return *this;
  }

 private:
  explicit Markup(std::string text) : text_(std::move(text)) {}
  friend Markup constant(const char* markup);
  friend Markup escaped(std::string_view exact);
  friend Markup element(std::string_view tag, std::initializer_list<Attribute> attributes,
                        const Markup& content);
  friend Markup element(std::string_view tag, std::initializer_list<Attribute> attributes);

  std::string text_;
};

Markup operator+(Markup one, const Markup& other);

// Returns markup that is a part of this program.
Markup constant(const char* markup);
// Escapes text for a reader: control characters become \xHH (base/text.hpp).
Markup text(std::string_view words);
// Escapes text without any other change, for a reader that wants its exact bytes back.
Markup escaped(std::string_view exact);

Markup element(std::string_view tag, std::initializer_list<Attribute> attributes, const Markup& content);
Markup element(std::string_view tag, std::initializer_list<Attribute> attributes);  // without content
Markup element(std::string_view tag, std::string_view words);                       // with text only

// Formats a coordinate or a length: at most two decimals.
std::string coordinate(double value);

}  // namespace joust::report::page
