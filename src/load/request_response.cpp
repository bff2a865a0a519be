// SPDX-License-Identifier: MIT
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
