// SPDX-License-Identifier: MIT
#include "load/request_service.hpp"

#include "load/request_session.hpp"
#include "load/traced_exchange.hpp"
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

}  // namespace joust
