// SPDX-License-Identifier: MIT
#include "protocols/script/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/random.hpp"

namespace joust::script {

const Message& Script::message(const MessageNumber& number) const {
  if (messages.size() == 1) return messages.front();
  std::uint64_t all = 0;
  for (const Message& one : messages) all += one.weight;
  const std::uint64_t of_connection = mixed(seed + number.connection * kMixStep + 1);
  std::uint64_t place = mixed(of_connection + number.number * kMixStep) % all;
  for (const Message& one : messages) {
    if (place < one.weight) return one;
    place -= one.weight;
  }
  return messages.back();
}

bool Script::checks_all() const {
  return std::ranges::all_of(messages, [](const Message& one) { return one.expect.checks(); });
}

bool Script::takes_reply() const {
  return std::ranges::any_of(messages,
                             [](const Message& one) { return one.send.has(TemplatePart::Kind::reply); });
}

std::optional<std::uint64_t> ReplyId::number_in(Bytes reply, std::uint64_t written) const {
  if (reply.size() < offset + width || written == 0) return std::nullopt;
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = is_little ? width - 1 - i : i;
    id = id << 8 | std::to_integer<std::uint64_t>(reply[offset + place]);
  }
  if (width == sizeof id) return id < written ? std::optional(id) : std::nullopt;
  const std::uint64_t ids = std::uint64_t{1} << (8 * width), newest = written - 1;
  const std::uint64_t back = (newest - id) % ids;  // requests since the newest one with this id
  return back <= newest ? std::optional(newest - back) : std::nullopt;
}

void check_client(const Script& script) {
  if (!script.frame.unavailable.empty())
    throw std::invalid_argument("--frame http: " + script.frame.unavailable);
  if (script.frame.ends_connection && !script.first_expect.empty())
    throw std::invalid_argument(
        "--frame close: each message has a connection of its own, and no first words (--first, "
        "--first-expect)");
  if (!script.frame.cutter && !script.id)
    throw std::invalid_argument(
        "datagrams are lost and come late: a request needs a number that its reply has too: {id:u16} in "
        "--send, "
        "and --reply-id u16@BYTE");
  const bool all_have_id = std::ranges::all_of(
      script.messages, [](const Message& one) { return one.send.has(TemplatePart::Kind::id); });
  if (script.id && !all_have_id)
    throw std::invalid_argument(
        "--reply-id: a message without {id:u16} has no number that its reply could have");
}

void check_server(const Script& script) {
  if (script.requests.ends_connection || script.requests.text == "http")
    throw std::invalid_argument(fmt::format(
        "--request-frame: a server needs to know where a request ends, and '{}' does not say that",
        script.requests.text));
  if (std::ranges::none_of(script.messages, [](const Message& one) {
        return one.answer.has_value() || one.expect.kind() == Expectation::Kind::echo;
      }))
    throw std::invalid_argument(
        "a server needs replies: say --answer TEMPLATE, or --expect with exact: or echo, which say what a "
        "reply is");
  for (const Message& one : script.messages)
    if (one.answer && one.answer->has(TemplatePart::Kind::connection))
      throw std::invalid_argument(
          "{connection} and {counter}: a server does not know the number of a connection");
}

}  // namespace joust::script
