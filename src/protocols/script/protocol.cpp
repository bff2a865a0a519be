// SPDX-License-Identifier: MIT
//
// script: messages of anybody's protocol, from templates (docs/script-protocol.md).
//
//     a template with placeholders --> the server; a frame says where its reply ends, an expectation what is
//     right
//
// So a server of somebody else is a contestant without a line of code. The other side answers from the same
// script, so every engine serves these messages too. The texts are options, or stand in a file: TOML with the
// same keys.
#include "protocols/script/script.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <stdexcept>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust::script {
namespace {

constexpr std::size_t kMostMessages = 1000;
constexpr std::uint64_t kMostWeight = 1'000'000;

// The texts of a script, as options or a file have them. Each is named in messages by `where`.
struct Text {
  std::string where{}, text{};
};

struct MessageTexts {
  Text send{};
  std::uint64_t weight = 1;
  std::optional<Text> expect{}, answer{};
};

struct ScriptTexts {
  std::vector<MessageTexts> messages{};
  std::optional<Text> frame{}, request_frame{}, expect{}, answer{}, first{}, first_answer{}, last{},
      reply_id{};
  std::vector<Text> first_expect{};
  std::uint64_t seed = 0;
};

// Returns a template of the bytes that hexadecimal digits say: "0a ff".
std::string template_of_hex(std::string_view digits, const std::string& where) {
  std::string bytes, pair;
  for (const char digit : digits) {
    if (digit == ' ' || digit == '\n' || digit == '\t') continue;
    if (!std::isxdigit(static_cast<unsigned char>(digit)))
      refuse(where, "there is a character that is no hexadecimal digit");
    pair += digit;
    if (pair.size() == 2) bytes += "\\x" + std::exchange(pair, "");
  }
  if (!pair.empty()) refuse(where, "hex: there is an odd number of digits");
  return bytes;
}

// The script's file.

class FileReader {
 public:
  inline static const std::vector<std::string> kKeys{"send",   "reply",    "request",      "expect",
                                                     "answer", "first",    "first-expect", "first-answer",
                                                     "last",   "reply-id", "seed"};

  explicit FileReader(const toml::table& table) : table_(table) {}

  ScriptTexts read() {
    ScriptTexts script;
    check_keys(table_, "", kKeys);
    script.frame = text(table_, "", "reply");
    script.request_frame = text(table_, "", "request");
    script.expect = text(table_, "", "expect");
    script.answer = text(table_, "", "answer");
    script.first = text(table_, "", "first");
    script.first_answer = text(table_, "", "first-answer");
    script.last = text(table_, "", "last");
    script.reply_id = text(table_, "", "reply-id");
    script.seed = count(table_, "", "seed", 0, UINT32_MAX).value_or(0);
    if (const toml::array* list = table_["first-expect"].as_array()) {
      for (const toml::node& one : *list)
        script.first_expect.push_back({where("first-expect"), string_of(one, "first-expect")});
    } else if (auto one = text(table_, "", "first-expect")) {
      script.first_expect.push_back(std::move(*one));
    }
    read_messages(script);
    return script;
  }

 private:
  static std::string where(const std::string& key) { return "--script: " + key; }

  std::string string_of(const toml::node& node, const std::string& key) const {
    const auto value = node.value_exact<std::string>();
    if (!value) refuse(where(key), "write it as a text, in quotes");
    return *value;
  }

  static std::string no_such_key(const std::string& key, const std::vector<std::string>& keys,
                                 bool in_message) {
    const bool is_above = in_message && std::ranges::count(kKeys, key) > 0;
    return is_above ? fmt::format("a message has no such key: write {} above the first [[send]]", key)
                    : "there is no such key; " + suggestion(key, keys);
  }

  void check_keys(const toml::table& table, const std::string& path,
                  const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : table)
      if (std::ranges::find(keys, std::string(key.str())) == keys.end())
        refuse(where(path + std::string(key.str())),
               no_such_key(std::string(key.str()), keys, !path.empty()));
  }

  std::optional<Text> text(const toml::table& table, const std::string& path, const std::string& key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    return Text{where(path + key), string_of(*node, path + key)};
  }

  std::optional<std::uint64_t> count(const toml::table& table, const std::string& path,
                                     const std::string& key, std::uint64_t least, std::uint64_t most) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < static_cast<std::int64_t>(least) || static_cast<std::uint64_t>(*value) > most)
      refuse(where(path + key), fmt::format("write a whole number from {} to {}", least, most));
    return static_cast<std::uint64_t>(*value);
  }

  void read_messages(ScriptTexts& script) const {
    const toml::node* node = table_.get("send");
    if (node == nullptr)
      refuse(where("send"), "the key is missing: it is the text of a request, or a list of tables");
    if (node->is_string()) {
      script.messages.push_back({.send = *text(table_, "", "send")});
      return;
    }
    const toml::array* const list = node->as_array();
    if (list == nullptr || list->empty() || list->size() > kMostMessages)
      refuse(where("send"), fmt::format("write a text, or up to {} tables [[send]]", kMostMessages));
    for (const toml::node& one : *list) {
      const std::string path = fmt::format("send[{}].", script.messages.size());
      if (const toml::table* table = one.as_table())
        script.messages.push_back(message(*table, path));
      else
        script.messages.push_back({.send = {where(path), string_of(one, path)}});
    }
  }

  MessageTexts message(const toml::table& table, const std::string& path) const {
    check_keys(table, path, {"text", "hex", "weight", "expect", "answer"});
    MessageTexts made{.weight = count(table, path, "weight", 1, kMostWeight).value_or(1),
                      .expect = text(table, path, "expect"),
                      .answer = text(table, path, "answer")};
    std::size_t given = 0;
    if (auto one = text(table, path, "text"); one && ++given > 0) made.send = std::move(*one);
    if (auto one = text(table, path, "hex"); one && ++given > 0)
      made.send = {one->where, template_of_hex(one->text, one->where)};
    if (given != 1) refuse(where(path + "text"), "a message has either text or hex");
    return made;
  }

  const toml::table& table_;
};

// Reads a script from the text of its file.
ScriptTexts read_file(const std::string& text) {
  if (const std::string wrong = toml_objection(text); !wrong.empty()) refuse("--script", wrong);
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    refuse("--script",
           fmt::format("line {}: {}", at.line, toml_error(text, at.line, at.column, error.description())));
  }
  return FileReader(table).read();
}

// Reads a script from the options.
ScriptTexts read_options(const Parameters& parameters) {
  const auto read = [&parameters](const std::string& name) -> std::optional<Text> {
    const auto found = parameters.options.find(name);
    if (found == parameters.options.end() || found->second.empty()) return std::nullopt;
    return Text{"--" + name, found->second};
  };
  ScriptTexts script;
  script.frame = read("reply");
  script.request_frame = read("request");
  script.answer = read("answer");
  script.first = read("first");
  script.last = read("last");
  script.reply_id = read("reply-id");
  if (auto one = read("first-expect")) script.first_expect.push_back(std::move(*one));
  MessageTexts message{.expect = read("expect")};
  if (auto send = read("send")) {
    message.send = std::move(*send);
    script.messages.push_back(std::move(message));
  }
  return script;
}

// From texts to a script.

class Maker {
 public:
  Maker(const ScriptTexts& texts, std::size_t payload) : texts_(texts), payload_(payload) {}

  Script make() const {
    Script script{.seed = texts_.seed};
    script.frame = frame_of(texts_.frame.value_or(Text{"--reply", "line"}));
    script.requests = texts_.request_frame ? frame_of(*texts_.request_frame) : script.frame;
    for (const MessageTexts& message : texts_.messages)
      script.messages.push_back(message_of(message, script.frame));
    for (const Message& message : script.messages) script.all_weights += message.weight;
    if (texts_.first) script.first = own_template(*texts_.first);
    if (texts_.last) script.last = own_template(*texts_.last);
    if (script.first && script.first->has(TemplatePart::Kind::reply))
      refuse(texts_.first->where,
             "there is no reply before the first words, which {reply} could take a part of");
    for (const Text& one : texts_.first_expect) {
      script.first_expect.push_back(expectation(one));
      if (script.first_expect.back().needs_request())
        refuse(one.where, "the first words are no request: leave {1} and echo out");
    }
    if (!script.frame.cutter && script.first_expect.size() > 1)
      refuse(texts_.first_expect.back().where,
             "datagrams come in any order: one reply to the first words at most");
    if (script.first && script.first_expect.empty())
      refuse(texts_.first->where, "say what answers it: --first-expect, such as prefix:+OK");
    if (texts_.first_answer) script.first_answer = own_template(*texts_.first_answer);
    if (!script.first_answer && !script.first_expect.empty() &&
        script.first_expect.back().kind() == Expectation::Kind::exact)
      script.first_answer = script.first_expect.back().form();
    if (texts_.reply_id) script.id = id_of(*texts_.reply_id);
    return script;
  }

 private:
  Template compiled(const Text& text) const {
    auto made = Template::compile(text.text, payload_);
    if (!made) refuse(text.where, made.error());
    if (made->is_empty()) refuse(text.where, "the text is empty");
    return std::move(*made);
  }

  // Compiles a template that no request comes before.
  Template own_template(const Text& text) const {
    Template made = compiled(text);
    if (made.most_value() > 0) refuse(text.where, "{1} is a value of a request, and has no meaning here");
    return made;
  }

  Expectation expectation(const Text& text) const {
    auto made = Expectation::parse(text.text, payload_);
    if (!made) refuse(text.where, made.error());
    return std::move(*made);
  }

  Frame frame_of(const Text& text) const {
    auto made = parse_frame(text.text);
    if (!made) refuse(text.where, made.error());
    return std::move(*made);
  }

  // Checks that the values that a reply has of its request are there.
  static void check_values(const Template& form, const Template& send, const std::string& where) {
    if (form.most_value() > send.values())
      refuse(where, fmt::format("{{{}}}: the request has {} placeholders with a value", form.most_value(),
                                send.values()));
  }

  Message message_of(const MessageTexts& texts, const Frame& frame) const {
    Message message{.send = own_template(texts.send), .weight = texts.weight};
    if (message.send.may_be_empty())
      refuse(texts.send.where,
             "the message may have no bytes, and then no reply comes: let it have one at least");
    const std::optional<Text>& expect = texts.expect ? texts.expect : texts_.expect;
    if (expect) {
      message.expect = expectation(*expect);
      check_values(message.expect.form(), message.send, expect->where);
      const bool has_reply = message.send.has(TemplatePart::Kind::reply);
      if (has_reply && message.expect.needs_request())
        refuse(expect->where,
               "a message with {reply} is not known when its own reply comes: leave {1} and echo out");
    }
    if (const std::optional<Text>& answer = texts.answer ? texts.answer : texts_.answer) {
      message.answer = compiled(*answer);
      check_values(*message.answer, message.send, answer->where);
    } else if (message.expect.kind() == Expectation::Kind::exact) {
      message.answer = message.expect.form();
    } else if (message.expect.kind() == Expectation::Kind::text && frame.text == "line") {
      message.answer = compiled({expect->where, expect->text + "\\r\\n"});
    }
    return message;
  }

  ReplyId id_of(const Text& text) const {
    const std::string_view all = text.text;
    ReplyId id;
    const std::size_t at = all.find('@');
    std::string_view type = all.substr(0, at);
    id.form = BinaryNumber::take_from(type);
    const auto offset =
        at == all.npos ? std::expected<std::uint64_t, std::string>(0) : parse_count(all.substr(at + 1));
    if (id.form.width < 2 || !type.empty() || !offset || *offset > kLargestMessage)
      refuse(text.where,
             fmt::format("'{}': say the form of the number and its first byte: u16@0", printable(all)));
    id.offset = static_cast<std::size_t>(*offset);
    return id;
  }

  const ScriptTexts& texts_;
  const std::size_t payload_;
};

}  // namespace

std::vector<ProtocolOption> options() {
  return {
      {.name = "script",
       .summary = "a TOML file with all of the following, and several messages with weights; or its text",
       .standard = "",
       .from_file = ProtocolOption::FromFile::always},
      {.name = "send",
       .summary = "the text of a request, such as 'GET key:{rand:1..1000}\\r\\n'; @FILE reads it from a file",
       .standard = "",
       .from_file = ProtocolOption::FromFile::escaped_after_at},
      {.name = "reply",
       .summary = "where a reply ends: length:BYTES, line, until:BYTES, u8, u16, u32 or u64 (with le, +self, "
                  "@BYTE), resp, http, datagram, close [line]",
       .standard = ""},
      {.name = "expect",
       .summary =
           "what a right reply is: TEXT (without the end of its line), exact:TEXT, prefix:TEXT, "
           "contains:TEXT, length:BYTES, match:EXPRESSION, echo; none: replies are not verified [none]",
       .standard = "",
       .from_file = ProtocolOption::FromFile::escaped_after_at},
      {.name = "first",
       .summary = "what a connection sends before the load: a login",
       .standard = "",
       .from_file = ProtocolOption::FromFile::escaped_after_at},
      {.name = "first-expect",
       .summary = "the right reply to it, as in --expect; alone: what the server says first",
       .standard = "",
       .from_file = ProtocolOption::FromFile::escaped_after_at},
      {.name = "last",
       .summary = "what a connection sends at its end",
       .standard = "",
       .from_file = ProtocolOption::FromFile::escaped_after_at,
       .serves = false},
      {.name = "reply-id",
       .summary =
           "over datagrams: the form and the place of the number in a reply that {id} puts into its request: "
           "u16@0",
       .standard = ""},
      {.name = "request",
       .summary = "where a request ends, if not as a reply does",
       .standard = "",
       .loads = false},
      {.name = "answer",
       .summary =
           "what the server replies; {1}, {2}, ... are the values of the request [what --expect says, if "
           "that is TEXT, exact: or echo]",
       .standard = "",
       .from_file = ProtocolOption::FromFile::escaped_after_at,
       .loads = false},
  };
}

std::shared_ptr<const Script> script_of(const Parameters& parameters) {
  const std::string& file = parameters.option("script");
  if (!file.empty()) {
    const Settings standard = [] {
      Settings values;
      for (const ProtocolOption& option : options()) values[option.name] = option.standard;
      return values;
    }();
    for (const auto& [name, value] : parameters.options)
      if (name != "script" && standard.contains(name) && value != standard.at(name))
        refuse("--" + name, "the script has it: leave one of --script and --" + name + " out");
  }
  const ScriptTexts texts = file.empty() ? read_options(parameters) : read_file(file);
  if (texts.messages.empty())
    throw std::invalid_argument(
        "--send: there is no message; say --send 'PING\\r\\n' --expect 'exact:+PONG\\r\\n', or --script "
        "FILE");
  return std::make_shared<const Script>(Maker(texts, parameters.payload).make());
}

}  // namespace joust::script

namespace joust {

Protocol script_protocol() {
  Protocol protocol;
  protocol.name = "script";
  protocol.summary = "messages of anybody's protocol, from templates";
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.largest_payload = 60'000;  // of {bytes}: a server of joust takes requests of 64 KiB
  protocol.payload_unused = [](const Parameters& client) -> std::string {
    if (script::script_of(client)->uses_payload()) return {};
    return "no message of the script has {bytes} or {binary}, whose size it is";
  };
  protocol.no_reconnect.clear();
  protocol.doubt = "does the server speak as the script says?";
  protocol.verified_by = [](const Parameters& client) {
    return script::script_of(client)->checks_all() ? std::string("by what the script expects")
                                                   : std::string();
  };
  protocol.no_ceiling = [](const Parameters& server, const Parameters& /*client*/) -> std::string {
    const std::string reason = script::why_no_answers(*script::script_of(server));
    return reason.empty() ? "" : "of this script there is no server of joust: " + reason;
  };
  protocol.demands = [](const Parameters& parameters, const LoadPlan*) {
    const bool is_datagram = !script::script_of(parameters)->frame.cutter;
    return Demands{
        .stream = is_datagram ? "" : "its frame cuts a stream: over messages it is --reply datagram",
        .messages = is_datagram ? "--reply datagram needs an engine over UDP" : ""};
  };
  protocol.options = script::options();
  protocol.make_server = script::make_server;
  protocol.make_client = script::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan& plan) {
    script::check_client(*script::script_of(parameters), plan);
  };
  protocol.check_server = [](const Parameters& parameters) {
    script::check_server(*script::script_of(parameters));
  };
  return protocol;
}

}  // namespace joust
