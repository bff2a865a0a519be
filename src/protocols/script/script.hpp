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

#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"
#include "protocols/script/expression.hpp"
#include "protocols/script/frame.hpp"
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

// One kind of message of a load, and its reply.
struct Message {
  Template send{};
  std::uint64_t weight = 1;
  Expectation expect{};
  std::optional<Template> answer{};  // of a server; empty: it has none to this message
};

// Where a reply has the number of its request, which {id} has put there.
struct ReplyId {
  BinaryNumber form{};
  std::size_t offset = 0;
  // Returns the number of the newest of `written` requests with this id. Nothing if the reply is too short,
  // or there is none.
  std::optional<std::uint64_t> number_in(Bytes reply, std::uint64_t written) const;
};

// Messages, their boundaries and the right replies: all that both sides of the protocol do. Compiled once;
// immutable; any thread.
struct Script {
  std::vector<Message> messages{};          // at least one
  std::uint64_t all_weights = 0;            // the sum of theirs
  Frame frame{};                            // of replies
  Frame requests{};                         // of requests, for a server
  std::optional<Template> first{};          // what a connection sends before the load
  std::vector<Expectation> first_expect{};  // the replies that come before the load, in order
  std::optional<Template> first_answer{};
  std::optional<Template> last{};  // what a connection sends at its end
  std::optional<ReplyId> id{};
  std::uint64_t seed = 0;

  // Returns the kind of a message: by weight, the same one at each call.
  const Message& message(const MessageNumber& number) const;
  // Returns whether each reply is checked by something.
  bool checks_all() const;
  bool uses_payload() const;  // a text has {bytes} or {binary}
  bool takes_reply() const;   // a message has a part of the reply before it
};

// Returns the options of the protocol.
std::vector<ProtocolOption> options();

// Makes the script of options. Throws std::invalid_argument, with the option and the remedy.
std::shared_ptr<const Script> script_of(const Parameters& parameters);

// Returns why a server cannot answer each message of the script; empty if it can.
std::string why_no_answers(const Script& script);

// Checks what only a client needs, or a server. Throw std::invalid_argument.
void check_client(const Script& script, const LoadPlan& plan);
void check_server(const Script& script);

// The service of each side. Throw std::invalid_argument for options that do not fit.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::script
