// SPDX-License-Identifier: MIT
#include "protocols/script/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
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

namespace {

// Returns whether a reply depends on the number of a connection.
bool needs_client(const Template& answer) {
  using Kind = TemplatePart::Kind;
  return answer.has(Kind::connection) || answer.has(Kind::counter) || answer.has(Kind::random) ||
         answer.has(Kind::bytes);
}

// Refuses requests under way together where each depends on the reply before, or needs a connection of its
// own.
void check_depth(const Script& script, const LoadPlan& plan) {
  if (plan.depth > 1 && script.frame.ends_connection)
    throw std::invalid_argument(
        "--depth: with --reply close each message has a connection of its own: leave it out");
  if (plan.depth > 1 && script.takes_reply())
    throw std::invalid_argument(
        "--depth: with {reply} a message needs the reply before it, so one is under way at a time: leave it "
        "out");
  if (script.id && script.id->form.width < sizeof(std::uint64_t) &&
      plan.depth > std::uint64_t{1} << (8 * script.id->form.width - 1))
    throw std::invalid_argument(
        fmt::format("--depth: of {} requests under way several would have the same --reply-id", plan.depth));
}

// Refuses messages whose number is not the one that a reply has.
void check_ids(const Script& script) {
  const auto word = [](const BinaryNumber& form) {
    return fmt::format("u{}{}", 8 * form.width, form.is_little ? "le" : "");
  };
  for (const Message& one : script.messages) {
    const auto form = one.send.id();
    if (!form)
      throw std::invalid_argument(
          "--reply-id: a message without {id:u16} has no number that its reply could have");
    if (*form != script.id->form)
      throw std::invalid_argument(
          fmt::format("--reply-id: it is {}, and the message has {{id:{}}}: give both the same form",
                      word(script.id->form), word(*form)));
  }
}

}  // namespace

const Message& Script::message(const MessageNumber& number) const {
  if (messages.size() == 1) return messages.front();
  const std::uint64_t of_connection = mixed(seed + number.connection * kMixStep + 1);
  std::uint64_t place = mixed(of_connection + number.number * kMixStep) % all_weights;
  for (const Message& one : messages) {
    if (place < one.weight) return one;
    place -= one.weight;
  }
  return messages.back();
}

bool Script::checks_all() const {
  return std::ranges::all_of(messages, [](const Message& one) { return one.expect.checks(); });
}

bool Script::uses_payload() const {
  const auto uses = [](const std::optional<Template>& form) { return form && form->uses_payload(); };
  const auto expects = [](const Expectation& one) { return one.form().uses_payload(); };
  return uses(first) || uses(last) || uses(first_answer) || std::ranges::any_of(first_expect, expects) ||
         std::ranges::any_of(messages, [&](const Message& one) {
           return one.send.uses_payload() || expects(one.expect) || uses(one.answer);
         });
}

bool Script::takes_reply() const {
  const auto takes = [](const Template& form) { return form.has(TemplatePart::Kind::reply); };
  return (last && takes(*last)) ||
         std::ranges::any_of(messages, [&](const Message& one) { return takes(one.send); });
}

std::optional<std::uint64_t> ReplyId::number_in(Bytes reply, std::uint64_t written) const {
  if (reply.size() < offset + form.width || written == 0) return std::nullopt;
  const std::uint64_t id = form.read(reply.subspan(offset));
  if (form.width == sizeof id) return id < written ? std::optional(id) : std::nullopt;
  const std::uint64_t ids = std::uint64_t{1} << (8 * form.width), newest = written - 1;
  const std::uint64_t back = (newest - id) % ids;  // requests since the newest one with this id
  return back <= newest ? std::optional(newest - back) : std::nullopt;
}

void check_client(const Script& script, const LoadPlan& plan) {
  check_depth(script, plan);
  for (const Message& one : script.messages)
    if (script.frame.text == "http" && one.send.beginning().starts_with("HEAD "))
      throw std::invalid_argument(
          "--send: the reply to HEAD has no body, and --reply http waits for one: say GET");
  if (script.frame.ends_connection && !script.first_expect.empty())
    throw std::invalid_argument(
        "--reply close: each message has a connection of its own, and no first words (--first, "
        "--first-expect)");
  if (!script.frame.cutter && !script.id)
    throw std::invalid_argument(
        "datagrams are lost and come late: a request needs a number that its reply has too: {id:u16} in "
        "--send, "
        "and --reply-id u16@BYTE");
  if (script.id) check_ids(script);
}

std::string why_no_answers(const Script& script) {
  if (script.requests.ends_connection || script.requests.text == "http")
    return fmt::format("a server needs to know where a request ends, and '{}' does not say that (--request)",
                       script.requests.text);
  for (std::size_t i = 0; i < script.messages.size(); ++i) {
    const Message& one = script.messages[i];
    const std::string which = script.messages.size() == 1 ? "the message" : fmt::format("send[{}]", i);
    if (!one.answer && one.expect.kind() != Expectation::Kind::echo)
      return fmt::format(
          "{} has no reply: say --answer TEMPLATE, or --expect with exact: or echo, which say what a "
          "reply is",
          which);
    if (one.answer && needs_client(*one.answer))
      return fmt::format(
          "the reply to {} has {{connection}}, {{counter}} or a random value, which only a client knows",
          which);
    if (one.send.is_ambiguous())
      return fmt::format("{} has a value that ends where the next one begins: put a text between them",
                         which);
  }
  if (script.first && !script.first_answer)
    return "the first words have no reply: say first-answer, or first-expect with exact:";
  if (script.first_answer && needs_client(*script.first_answer))
    return "the reply to the first words has {connection}, {counter} or a random value, which only a client "
           "knows";
  if (!script.first && !script.first_expect.empty())
    return "a server of joust does not speak first (first-expect)";
  return {};
}

void check_server(const Script& script) {
  if (const std::string reason = why_no_answers(script); !reason.empty()) throw std::invalid_argument(reason);
}

}  // namespace joust::script
