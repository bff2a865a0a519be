// SPDX-License-Identifier: MIT
#include "joust/engine.hpp"
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

Protocol request_response(RequestResponse description) {
  Protocol protocol;
  protocol.name = std::move(description.name);
  protocol.summary = std::move(description.summary);
  protocol.make_server = [framing = description.framing, make = std::move(description.handler),
                          rates = RateRules::of(description.least_rate)](const Parameters&) {
    return std::make_unique<HandlerService>(framing, make, rates);
  };
  protocol.make_client = [framing = description.framing, make = std::move(description.exchange)](
                             const Parameters& parameters, LoadRun& run) {
    return std::make_unique<RequestService>(framing, parameters, make, run);
  };
  return protocol;
}

}  // namespace joust
