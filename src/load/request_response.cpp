// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/files.hpp"
#include "joust/protocol.hpp"
#include "load/request_service.hpp"
#include "session/handler_session.hpp"

namespace joust {

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

Protocol request_response(RequestResponse description) {
  Protocol protocol;
  protocol.name = std::move(description.name);
  protocol.summary = std::move(description.summary);
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
