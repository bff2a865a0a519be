// SPDX-License-Identifier: MIT
#include "load/request_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <variant>

#include "base/files.hpp"
#include "joust/protocol.hpp"
#include "load/request_session.hpp"
#include "load/shown_messages.hpp"
#include "session/handler_session.hpp"
#include "session/message_wise.hpp"

namespace joust {

std::unique_ptr<Session> RequestService::open(const ConnectionInfo& info) {
  Channel channel = run_.channels().take();
  try {
    return session_of(channel, info.delivery);
  } catch (...) {  // the engine reports the failure
    if (run_.plan().reconnects() || channel.handover) run_.channels().give_back(std::move(channel));
    throw;
  }
}

// Makes the session. Takes the channel, unless it throws.
std::unique_ptr<Session> RequestService::session_of(Channel& channel, const Delivery& delivery) {
  Parameters parameters = parameters_;
  parameters.connection = channel.number;
  parameters.first_request = channel.requests;
  parameters.delivery = delivery;
  const Framing framing = delivery.by_message() ? Length4{delivery.largest_message} : framing_;
  std::unique_ptr<Exchange> exchange = make_(parameters);
  if (parameters_.trace != nullptr) exchange = traced(std::move(exchange), *parameters_.trace);
  std::unique_ptr<Session> session =
      std::make_unique<RequestSession>(framing, std::move(exchange), run_, channel, delivery);
  if (delivery.by_message()) session = message_wise(std::move(session), delivery.largest_message);
  return parameters_.trace == nullptr ? std::move(session) : traced(std::move(session), *parameters_.trace);
}

// Takes a failed dial. A connection that was to take over a channel fails before it is open.
void RequestService::not_opened(const Failure& failure, Time now) {
  std::optional<Channel> channel = run_.channels().take_handover();
  if (!channel) return run_.not_opened(failure, now);
  session_of(*channel, {})->on_failure(failure, now);
}

Parameters standard_parameters(const Protocol& protocol, Role side) {
  Parameters parameters;
  for (const ProtocolOption& option : protocol.options)
    if (side == Role::serve ? option.serves : option.loads) parameters.options[option.name] = option.standard;
  return parameters;
}

Parameters parameters_of(const Protocol& protocol, const Settings& given, Role side) {
  Parameters parameters = standard_parameters(protocol, side);
  for (auto& [name, value] : parameters.options)
    if (const auto found = given.find(name); found != given.end()) value = found->second;
  return parameters;
}

std::expected<std::string, std::string> read_value(const ProtocolOption& option, const std::string& given) {
  using FromFile = ProtocolOption::FromFile;
  const bool has_escapes = option.from_file == FromFile::escaped_after_at;
  const bool after_at = has_escapes || option.from_file == FromFile::after_at;
  const bool is_named = after_at ? given.starts_with('@')
                        : option.from_file == FromFile::always
                            ? !given.empty() && given.find_first_of("\n=") == given.npos
                            : false;
  if (!is_named) return given;
  auto text = value_of_file(after_at ? given.substr(1) : given);
  if (!text) return text;
  if (text->contains('\0') && option.from_file != FromFile::after_at)
    return std::unexpected(fmt::format("'{}' has a byte of value 0{}", given,
                                       has_escapes ? ": write \\0" : ", which is not supported here"));
  if (has_escapes && text->starts_with('@')) text->replace(0, 1, "\\x40");
  if (after_at && text->starts_with('@'))
    return std::unexpected(fmt::format("'{}' begins with '@', which is not supported here", given));
  if (option.from_file == FromFile::always) *text += '\n';
  return text;
}

std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> exchange_client(Framing framing,
                                                                                     MakeExchange make) {
  return [framing, make = std::move(make)](const Parameters& parameters, LoadRun& run) {
    return std::make_unique<RequestService>(framing, parameters, make, run);
  };
}

namespace {

// Returns the largest payload that fits into one message. A smaller message than the usual payload does not
// carry it: then --payload has a meaning of its own.
std::size_t largest_payload(const Framing& framing) {
  std::size_t largest = std::numeric_limits<std::size_t>::max();
  if (const auto* const sized = std::get_if<Length4>(&framing)) largest = sized->largest;
  if (const auto* const line = std::get_if<Line>(&framing)) largest = line->largest;
  return std::max(largest, Parameters{}.payload);
}

}  // namespace

Protocol request_response(RequestResponse description) {
  Protocol protocol;
  protocol.name = std::move(description.name);
  protocol.summary = std::move(description.summary);
  protocol.largest_payload = std::min(protocol.largest_payload, largest_payload(description.framing));
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  protocol.make_server = [framing = description.framing, make = std::move(description.handler),
                          rates = RateRules::of(description.least_rate)](const Parameters&) {
    return std::make_unique<HandlerService>(framing, make, rates);
  };
  protocol.make_client = exchange_client(description.framing, std::move(description.exchange));
  return protocol;
}

}  // namespace joust
