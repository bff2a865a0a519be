// SPDX-License-Identifier: MIT
#include "report/page/markup.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace joust::report::page {
namespace {

std::string without_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string opened(std::string_view tag, std::initializer_list<Attribute> attributes) {
  std::string out = fmt::format("<{}", tag);
  for (const Attribute& one : attributes)
    out += fmt::format(" {}=\"{}\"", one.name, without_markup(printable(one.value, "\n\\")));
  return out;
}

}  // namespace

Attribute::Attribute(std::string_view its_name, double number) : name(its_name), value(coordinate(number)) {}

Markup operator+(Markup one, const Markup& other) {
  one += other;
  return one;
}

Markup constant(const char* markup) {
  return Markup(std::string(markup));
}

Markup text(std::string_view words) {
  return escaped(printable(words, "\n\\"));
}

Markup escaped(std::string_view exact) {
  return Markup(without_markup(exact));
}

Markup element(std::string_view tag, std::initializer_list<Attribute> attributes, const Markup& content) {
  return Markup(fmt::format("{}>{}</{}>", opened(tag, attributes), content.str(), tag));
}

Markup element(std::string_view tag, std::initializer_list<Attribute> attributes) {
  return Markup(opened(tag, attributes) + "/>");
}

Markup element(std::string_view tag, std::string_view words) {
  return element(tag, {}, text(words));
}

std::string coordinate(double value) {
  std::string out = fmt::format("{:.2f}", value);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

}  // namespace joust::report::page
