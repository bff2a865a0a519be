// SPDX-License-Identifier: MIT
#include "protocols/script/expectation.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/printable.hpp"
#include "base/units.hpp"

namespace joust::script {
namespace {

struct Word {
  std::string_view name;
  Expectation::Kind kind;
  bool has_text;
};

constexpr Word kWords[] = {
    {"none", Expectation::Kind::none, false},    {"exact", Expectation::Kind::exact, true},
    {"prefix", Expectation::Kind::prefix, true}, {"contains", Expectation::Kind::contains, true},
    {"length", Expectation::Kind::length, true}, {"match", Expectation::Kind::match, true},
    {"echo", Expectation::Kind::echo, false},
};

bool has_template(Expectation::Kind kind) {
  using Kind = Expectation::Kind;
  return kind == Kind::text || kind == Kind::exact || kind == Kind::prefix || kind == Kind::contains;
}

// Returns whether a text begins like a kind of expectation, "prefx:": it is then no text of a reply.
bool has_kind(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  return colon != text.npos && !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == name.npos;
}

std::string_view without_line_end(std::string_view reply) {
  if (reply.ends_with('\n')) reply.remove_suffix(1);
  if (reply.ends_with('\r')) reply.remove_suffix(1);
  return reply;
}

}  // namespace

std::expected<Expectation, std::string> Expectation::parse(std::string_view text, std::size_t payload) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Word* word = nullptr;
  for (const Word& one : kWords)
    if (one.name == name && one.has_text == (colon != text.npos)) word = &one;
  if (word == nullptr && (text.empty() || has_kind(text)))
    return std::unexpected(fmt::format(
        "'{}': say what a right reply is: TEXT, exact:TEXT, prefix:TEXT, contains:TEXT, length:BYTES, "
        "match:EXPRESSION, echo, or none",
        printable(text)));
  Expectation made;
  made.kind_ = word == nullptr ? Kind::text : word->kind;
  made.text_ = word == nullptr ? text : word->has_text ? text.substr(colon + 1) : "";
  if (has_template(made.kind_)) {
    auto compiled = Template::compile(made.text_, payload);
    if (!compiled) return std::unexpected(compiled.error());
    if (compiled->is_empty()) return std::unexpected(fmt::format("{}: the text is empty", name));
    if (compiled->has(TemplatePart::Kind::reply))
      return std::unexpected(
          "{reply} is of the reply before, and has no meaning in what a reply is compared with");
    made.template_ = std::move(*compiled);
    if (made.template_.is_constant()) (void)made.template_.render({}, nullptr, {}, made.constant_);
  }
  if (made.kind_ == Kind::length) {
    const auto length = parse_bytes(made.text_);
    if (!length) return std::unexpected("length: " + length.error());
    made.length_ = static_cast<std::size_t>(*length);
  }
  if (made.kind_ == Kind::match) {
    if (made.text_.empty()) return std::unexpected("match: the expression is empty, and any reply has it");
    auto expression = compile_expression(made.text_);
    if (!expression) return std::unexpected(expression.error());
    made.expression_ = std::move(*expression);
  }
  return made;
}

bool Expectation::right(Bytes reply, const MessageNumber& message, const Rendered* request,
                        Rendered& scratch) const {
  switch (kind_) {
    case Kind::none:
      return true;
    case Kind::length:
      return reply.size() == length_;
    case Kind::match:
      return expression_->find(as_text(reply)).has_value();
    case Kind::echo:
      return same_bytes(reply, request->bytes);
    case Kind::text:
    case Kind::exact:
    case Kind::prefix:
    case Kind::contains:
      break;
  }
  const Rendered* wanted = &constant_;
  if (!template_.is_constant()) {
    if (!template_.render(message, request, {}, scratch)) return false;
    wanted = &scratch;
  }
  if (kind_ == Kind::exact) return same_bytes(reply, wanted->bytes);
  const std::string_view text = as_text(wanted->bytes);
  if (kind_ == Kind::text) return without_line_end(as_text(reply)) == without_line_end(text);
  return kind_ == Kind::prefix ? as_text(reply).starts_with(text) : as_text(reply).contains(text);
}

std::string Expectation::description(const Rendered& scratch) const {
  const std::string text = shown(template_.is_constant() ? constant_.bytes : scratch.bytes);
  switch (kind_) {
    case Kind::none:
      return "is anything";
    case Kind::text:
    case Kind::exact:
      return "is " + text;
    case Kind::prefix:
      return "begins with " + text;
    case Kind::contains:
      return "contains " + text;
    case Kind::length:
      return fmt::format("has {} bytes", length_);
    case Kind::match:
      return fmt::format("matches '{}'", printable(text_, "\\"));
    case Kind::echo:
      break;
  }
  return "is its request";
}

}  // namespace joust::script
